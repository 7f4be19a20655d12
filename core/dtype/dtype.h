// SPDX-License-Identifier: Apache-2.0
// Element types. Sizes are computed from the bits of the dtype; other properties are in tables.
#ifndef GUFUNC_CORE_DTYPE_DTYPE_H
#define GUFUNC_CORE_DTYPE_DTYPE_H

#include <gufunc/dtype.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "core/base/error.h"

namespace gufunc::dtype {

// The number of numeric dtypes. The index of each dtype is its position in gufunc/dtypes.def.
#define GUF_DTYPE(...) +1
inline constexpr int kCount = 0
#include <gufunc/dtypes.def>
    ;

// Returns the index of a numeric dtype (0 .. kCount - 1), or -1 for other values.
int index_of(guf_dtype dtype);
guf_dtype at(int index);

// Type codes from 0x80 on are datetime types and structured dtypes.
constexpr bool is_extended(guf_dtype dtype) {
  return (dtype & 0x80U) != 0;
}
constexpr bool is_time(guf_dtype dtype) {
  return (dtype & 0xFEU) == 0x80;
}
constexpr bool is_datetime(guf_dtype dtype) {
  return (dtype & 0xFFU) == 0x80;
}
constexpr bool is_timedelta(guf_dtype dtype) {
  return (dtype & 0xFFU) == 0x81;
}
constexpr bool is_structured(guf_dtype dtype) {
  return (dtype & 0xFFU) == 0x82;
}
constexpr uint32_t itemsize(guf_dtype dtype) {
  if (__builtin_expect(is_extended(dtype), 0))
    return is_structured(dtype) ? dtype >> 8 & 0xFFFU : 8;
  return (dtype >> 11) & 0x1FU;
}
constexpr bool is_complex(guf_dtype dtype) {
  return (dtype & 0xFFU) == 5;
}
constexpr bool is_signed(guf_dtype dtype) {  // integers only; bool is neither signed nor unsigned
  return (dtype & 0xFFU) == 0;
}
constexpr bool is_unsigned(guf_dtype dtype) {
  return (dtype & 0xFFU) == 1;
}
constexpr bool is_integer(guf_dtype dtype) {
  return is_signed(dtype) || is_unsigned(dtype);
}
uint32_t structured_alignment(guf_dtype dtype);
constexpr uint32_t alignment(guf_dtype dtype) {
  if (__builtin_expect(is_structured(dtype), 0)) return structured_alignment(dtype);
  return is_complex(dtype) ? itemsize(dtype) / 2 : itemsize(dtype);
}
static_assert(itemsize(GUF_BOOL) == 1 && itemsize(GUF_C128) == 16 && alignment(GUF_C128) == 8);
static_assert(is_signed(GUF_I8) && is_unsigned(GUF_U64) && !is_signed(GUF_U8));
static_assert(is_integer(GUF_U64) && !is_integer(GUF_BOOL) && !is_integer(GUF_F16));

// Returns the position of a numeric dtype in tables of 64 entries, computed from log2 of the size
// and the type code. No two numeric dtypes have the same position.
constexpr size_t table_position(guf_dtype dtype) {
  const uint32_t bytes = itemsize(dtype);
  const uint32_t log2 = bytes == 0 ? 7 : static_cast<uint32_t>(__builtin_ctz(bytes));
  return (log2 * 8 + (dtype & 7U)) & 63U;
}

// The numeric dtype at each position. An unused position contains GUF_BOOL, so that a lookup of any
// other dtype at this position finds a different dtype. The position of GUF_BOOL itself is in use.
inline constexpr std::array<guf_dtype, 64> kNumericDtypes = [] {
  std::array<guf_dtype, 64> table = {};
  for (guf_dtype &entry : table) entry = GUF_BOOL;
#define GUF_DTYPE(NAME, ...) table[table_position(GUF_##NAME)] = GUF_##NAME;
#include <gufunc/dtypes.def>
  return table;
}();

bool valid_extended(guf_dtype dtype);  // a datetime type or a structured dtype that exists
inline bool valid(guf_dtype dtype) {
  if (__builtin_expect(is_extended(dtype), 0)) return valid_extended(dtype);
  return kNumericDtypes[table_position(dtype)] == dtype;
}
int32_t kind(guf_dtype dtype);            // guf_dtype_kind; 0 if invalid
bool is_real_float(guf_dtype dtype);      // a real floating-point type
char letter(guf_dtype dtype);             // a character such as 'f'; '\0' if invalid
const char *name(guf_dtype dtype);        // a name such as "float32"; nullptr if invalid
const char *short_name(guf_dtype dtype);  // such as "f4"; nullptr if not a numeric dtype
guf_dtype from_letter(char letter);       // GUF_DTYPE_UNSPECIFIED if unknown; M and m have no unit

// Equivalents of NumPy's can_cast and promote_types. `casting` is a guf_casting other than DEFAULT.
bool can_cast(guf_dtype from, guf_dtype to, int casting);
guf_dtype promote(guf_dtype a, guf_dtype b);  // numeric dtypes only
// Computes the common type of any two dtypes.
// Errors  GUF_E_DTYPE <= no common type;  GUF_E_OVERFLOW <= the multiple of the common unit is too
//         large
guf_status common_type(guf_dtype a, guf_dtype b, guf_dtype *out, guf_error *error);
// Checks that a permitted cast between datetime types has a valid conversion factor.
// Errors  GUF_E_VALUE <= cast from a type with a unit to a type without a unit
//         GUF_E_OVERFLOW <= the conversion factor overflows
guf_status check_cast(guf_dtype from, guf_dtype to, guf_error *error);
// Checks the cast of a scalar with a unit by NumPy's rule for scalars. Accepts all other dtypes.
// Errors  GUF_E_CASTING <= both types are datetime64 or both are timedelta64, and same_kind forbids
//         the cast between their units
guf_status check_time_scalar(guf_dtype from, guf_dtype to, int32_t index, guf_error *error);
// Returns the name of the Python type to which NumPy converts a datetime
// value, such as "datetime.date". Returns "NoneType" for NaT and for a
// datetime64 without a unit, and nullptr for int.
const char *python_type(guf_dtype time, int64_t steps);
const char *casting_name(int casting);  // a name such as "same_kind"

guf_status parse(const char *spelling, guf_dtype *out, guf_error *error);
// Appends a dtype in the spelling of NumPy's messages: float64, >f8 if byte-swapped, <M8[s].
void spell(guf_dtype dtype, bool swapped, base::Text *text);

// ---- structured dtypes

// Errors  GUF_E_ARG, GUF_E_EXISTS, GUF_E_NO_MEMORY as in guf_dtype_register
guf_status register_structured(const char *name, uint32_t itemsize, uint32_t alignment,
                               guf_dtype *out, guf_error *error);
// Returns nullptr if `dtype` is not a registered structured dtype.
const char *structured_name(guf_dtype dtype);
// Returns GUF_DTYPE_UNSPECIFIED if no structured dtype has this name.
guf_dtype find_structured(std::string_view name);

}  // namespace gufunc::dtype

#endif  // GUFUNC_CORE_DTYPE_DTYPE_H
