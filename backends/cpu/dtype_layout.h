// SPDX-License-Identifier: Apache-2.0
// Sizes of elements, as a backend needs them: the dtype's bits are part of its code.
#ifndef GUFUNC_BACKENDS_CPU_DTYPE_LAYOUT_H
#define GUFUNC_BACKENDS_CPU_DTYPE_LAYOUT_H

#include <gufunc/dtype.h>

#include <cstdint>

namespace gufunc::cpu {

inline constexpr uint32_t kMaxElementBytes = 16;  // of all but records
inline constexpr uint32_t kMaxAlignment = 64;     // of a record
inline constexpr int kDtypes = 15;

// Codes from 0x80 on: times of 8 bytes, and records, which say their size.
inline bool is_time(guf_dtype dtype) {
  return (dtype & 0xFE) == 0x80;
}
inline bool is_record(guf_dtype dtype) {
  return (dtype & 0xFF) == 0x82;
}

inline uint32_t dtype_bytes(guf_dtype dtype) {
  if (__builtin_expect((dtype & 0x80) != 0, 0)) return is_record(dtype) ? dtype >> 8 & 0xFFF : 8;
  return (dtype >> 8 & 0xFF) / 8;
}

// Bytes that swap as one: a complex element is two reals.
inline uint32_t dtype_swap_bytes(guf_dtype dtype) {
  const bool complex = dtype == GUF_C64 || dtype == GUF_C128;
  return complex ? dtype_bytes(dtype) / 2 : dtype_bytes(dtype);
}

// Place of a dtype in a table of all; -1: none of the fifteen.
int dtype_index(guf_dtype dtype);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_DTYPE_LAYOUT_H
