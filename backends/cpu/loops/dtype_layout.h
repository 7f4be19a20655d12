// SPDX-License-Identifier: Apache-2.0
// Sizes of elements, decoded from the bits of the dtype's code.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_DTYPE_LAYOUT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_DTYPE_LAYOUT_H

#include <gufunc/dtype.h>

#include <cstdint>

namespace gufunc::cpu {

inline constexpr uint32_t kMaxElementBytes = 16;  // of all dtypes except structured dtypes
inline constexpr uint32_t kMaxAlignment = 64;     // of structured dtypes

// The number of numeric dtypes.
#define GUF_DTYPE(...) +1
inline constexpr int kDtypes = 0
#include <gufunc/dtypes.def>
    ;

// A low byte of 0x80 or more denotes a datetime type, which has 8 bytes, or a structured dtype,
// whose code contains the size.
inline bool is_time(guf_dtype dtype) {
  return (dtype & 0xFE) == 0x80;
}
inline bool is_structured(guf_dtype dtype) {
  return (dtype & 0xFF) == 0x82;
}

inline uint32_t dtype_bytes(guf_dtype dtype) {
  if (__builtin_expect((dtype & 0x80) != 0, 0))
    return is_structured(dtype) ? dtype >> 8 & 0xFFF : 8;
  return (dtype >> 8 & 0xFF) / 8;
}

// Returns the number of bytes that are swapped as one unit. A complex element consists of two
// units.
inline uint32_t dtype_swap_bytes(guf_dtype dtype) {
  const bool complex = dtype == GUF_C64 || dtype == GUF_C128;
  return complex ? dtype_bytes(dtype) / 2 : dtype_bytes(dtype);
}

// Returns the index of a dtype in tables of all numeric dtypes, or -1 for other dtypes.
int dtype_index(guf_dtype dtype);

// Returns the size in bytes of a partial result of a fold entry. Partial results of storage types
// are wider than their elements.
uint32_t partial_bytes(guf_dtype dtype);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_DTYPE_LAYOUT_H
