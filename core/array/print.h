// SPDX-License-Identifier: Apache-2.0
// Text of arrays as NumPy prints them, with 75 columns and 8 digits. Long arrays are shortened.
#ifndef GUFUNC_CORE_ARRAY_PRINT_H
#define GUFUNC_CORE_ARRAY_PRINT_H

#include <cstddef>
#include <string>

#include "core/array/array.h"

namespace gufunc::array {

// Describes which elements are printed: all, or the first and last three of each long axis.
struct Summary {
  bool shortened;  // whether the array has more than 1000 elements
  int64_t shape[GUF_MAX_NDIM];
  uint64_t count;  // number of printed elements

  // Returns the array index of the i-th printed position of an axis.
  int64_t source(int32_t axis, int64_t i, int64_t extent) const {
    return i < 3 || shape[axis] == extent ? i : extent - shape[axis] + i;
  }
};
Summary summarize(const Layout &layout);

// Copies the printed elements from host memory into `out`, in C order and native byte order.
void gather_summary(const Layout &layout, bool swapped, const Summary &summary, std::byte *out);

// Returns the text without a final newline. `values` are the elements that gather_summary has
// written.
std::string format_values(const Layout &layout, const Summary &summary, const std::byte *values);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_PRINT_H
