// SPDX-License-Identifier: Apache-2.0
// For plugins: the sizes of elements, decoded from the bits of a dtype.
#ifndef GUFUNC_BACKEND_DTYPE_HPP
#define GUFUNC_BACKEND_DTYPE_HPP

#include <gufunc/dtype.h>

#include <cstdint>

namespace gufunc::sdk {

// Returns whether the dtype is datetime64 or timedelta64, of any unit.
constexpr bool is_time(guf_dtype dtype) {
  return (dtype & 0xFE) == 0x80;
}

// Returns whether the dtype is a structured dtype, whose elements are opaque bytes.
constexpr bool is_structured(guf_dtype dtype) {
  return (dtype & 0xFF) == 0x82;
}

// Returns the size of an element in bytes. A numeric dtype contains the size in bits, and a
// structured dtype contains the size in bytes. Elements of datetime types have 8 bytes.
constexpr uint32_t dtype_size(guf_dtype dtype) {
  if (__builtin_expect((dtype & 0x80) != 0, 0))
    return is_structured(dtype) ? dtype >> 8 & 0xFFF : 8;
  return (dtype >> 8 & 0xFF) / 8;
}

}  // namespace gufunc::sdk

#endif  // GUFUNC_BACKEND_DTYPE_HPP
