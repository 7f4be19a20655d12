// SPDX-License-Identifier: Apache-2.0
// Arrays as text, as NumPy prints them: 75 columns, 8 digits, long arrays shortened.
#ifndef GUFUNC_CORE_ARRAY_PRINT_H
#define GUFUNC_CORE_ARRAY_PRINT_H

#include <cstddef>
#include <string>

#include "core/array/array.h"

namespace gufunc::array {

// Which elements are shown: all, or of each long axis the first and last three.
struct Corner {
  bool shortened;  // more than 1000 elements
  int64_t shape[GUF_MAX_NDIM];
  uint64_t count;  // elements shown

  // Index in the array of the i-th shown position of an axis.
  int64_t source(int32_t axis, int64_t i, int64_t extent) const {
    return i < 3 || shape[axis] == extent ? i : extent - shape[axis] + i;
  }
};
Corner corner_of(const Layout &layout);

// Copies the shown elements of host memory into `out`: C order, native byte order.
void gather_corner(const Layout &layout, bool swapped, const Corner &corner, std::byte *out);

// The text, without a newline at its end. `values`: what gather_corner wrote.
std::string format_values(const Layout &layout, const Corner &corner, const std::byte *values);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_PRINT_H
