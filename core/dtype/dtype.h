// SPDX-License-Identifier: Apache-2.0
// Element types: sizes by arithmetic on the packed value, everything else by table.
#ifndef GUFUNC_CORE_DTYPE_DTYPE_H
#define GUFUNC_CORE_DTYPE_DTYPE_H

#include <gufunc/dtype.h>

#include "core/base/error.h"

namespace gufunc::dtype {

// Dense numbers in NumPy's order of promotion tables: bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16
// f32 f64 c64 c128.
inline constexpr int kCount = 15;

// Dense number of a dtype, or -1 for a value that is none.
int index_of(guf_dtype dtype);
guf_dtype at(int index);

constexpr uint32_t itemsize(guf_dtype dtype) {
  return (dtype >> 11) & 0x1FU;
}
constexpr bool is_complex(guf_dtype dtype) {
  return (dtype & 0xFFU) == 5;
}
constexpr bool is_signed(guf_dtype dtype) {  // an integer; bool is neither signed nor unsigned
  return (dtype & 0xFFU) == 0;
}
constexpr bool is_unsigned(guf_dtype dtype) {
  return (dtype & 0xFFU) == 1;
}
constexpr bool is_integer(guf_dtype dtype) {
  return is_signed(dtype) || is_unsigned(dtype);
}
constexpr uint32_t alignment(guf_dtype dtype) {
  return is_complex(dtype) ? itemsize(dtype) / 2 : itemsize(dtype);
}
static_assert(itemsize(GUF_BOOL) == 1 && itemsize(GUF_C128) == 16 && alignment(GUF_C128) == 8);
static_assert(is_signed(GUF_I8) && is_unsigned(GUF_U64) && !is_signed(GUF_U8));
static_assert(is_integer(GUF_U64) && !is_integer(GUF_BOOL) && !is_integer(GUF_F16));

bool valid(guf_dtype dtype);
char letter(guf_dtype dtype);        // 'f'; '\0' for none
const char *name(guf_dtype dtype);   // "float32"; nullptr for none
guf_dtype from_letter(char letter);  // GUF_DTYPE_UNSPECIFIED when it is none

// NumPy's can_cast and promote_types, as tables. `casting` is a guf_casting but not DEFAULT.
bool can_cast(guf_dtype from, guf_dtype to, int casting);
guf_dtype promote(guf_dtype a, guf_dtype b);
const char *casting_name(int casting);  // "same_kind"

guf_status parse(const char *spelling, guf_dtype *out, guf_error *error);

}  // namespace gufunc::dtype

#endif  // GUFUNC_CORE_DTYPE_DTYPE_H
