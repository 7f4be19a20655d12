// SPDX-License-Identifier: Apache-2.0
// Properties of dtypes that are decoded from the bits of their codes.
#ifndef GUFUNC_BACKENDS_CPU_DTYPE_LAYOUT_H
#define GUFUNC_BACKENDS_CPU_DTYPE_LAYOUT_H

#include <gufunc/dtype.h>

#include <cstdint>

namespace gufunc::cpu {

inline constexpr uint32_t kMaxElementBytes = 16;  // the largest element, structured dtypes excepted
inline constexpr uint32_t kMaxAlignment = 64;     // the largest alignment of a structured dtype
inline constexpr int kDtypes = 15;

// A code with bit 0x80 set is a datetime type of 8 bytes or a structured dtype,
// whose code contains its size.
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

// Returns the number of bytes that a byte swap reverses as one unit.
// A complex element consists of two units.
inline uint32_t dtype_swap_bytes(guf_dtype dtype) {
  const bool complex = dtype == GUF_C64 || dtype == GUF_C128;
  return complex ? dtype_bytes(dtype) / 2 : dtype_bytes(dtype);
}

// Returns the index of a builtin dtype in the plugin's tables,
// or -1 if the dtype is not one of the fifteen.
int dtype_index(guf_dtype dtype);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_DTYPE_LAYOUT_H
