// SPDX-License-Identifier: Apache-2.0
// Binary search in a sorted view.
#ifndef GUFUNC_KERNELS_STANDARD_BOUND_HPP
#define GUFUNC_KERNELS_STANDARD_BOUND_HPP

#include <gufunc/kernel.hpp>

namespace standard {

// Returns the first index in [first, last) whose element is not before `value`, or, with
// `after_equal`, whose element is after `value`.
template <class Y, class V, class Less>
GUF_DEVICE guf::i64 bound(Y y, guf::i64 first, guf::i64 last, V value, bool after_equal,
                          Less less) {
  while (first < last) {
    const guf::i64 middle = first + (last - first) / 2;
    const auto element = guf::load(y[middle]);
    if (after_equal ? !less(value, element) : less(element, value)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_BOUND_HPP
