// SPDX-License-Identifier: Apache-2.0
// Properties of dtypes that the loops need.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_DTYPE_LAYOUT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_DTYPE_LAYOUT_H

#include <gufunc/backend/dtype.hpp>

#include <cstdint>

namespace gufunc::cpu {

inline constexpr uint32_t kMaxElementBytes = 16;  // of all dtypes except structured dtypes
inline constexpr uint32_t kMaxAlignment = 64;     // of structured dtypes

// The number of numeric dtypes.
#define GUF_DTYPE(...) +1
inline constexpr int kDtypes = 0
#include <gufunc/dtypes.def>
    ;

using sdk::dtype_size;
using sdk::is_structured;
using sdk::is_time;

// Returns the number of bytes that are swapped as one unit. A complex element consists of two
// units.
inline uint32_t dtype_swap_bytes(guf_dtype dtype) {
  const bool complex = dtype == GUF_C64 || dtype == GUF_C128;
  return complex ? dtype_size(dtype) / 2 : dtype_size(dtype);
}

// Returns the index of a dtype in tables of all numeric dtypes, or -1 for other dtypes.
int dtype_index(guf_dtype dtype);

// Returns the size in bytes of a partial result of a fold entry. Partial results of storage types
// are wider than their elements.
uint32_t partial_bytes(guf_dtype dtype);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_DTYPE_LAYOUT_H
