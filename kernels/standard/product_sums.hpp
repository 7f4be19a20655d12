// SPDX-License-Identifier: Apache-2.0
// Sums of products: integers wrap, and the sum of bool is any(x and y).
#ifndef GUFUNC_KERNELS_STANDARD_PRODUCT_SUMS_HPP
#define GUFUNC_KERNELS_STANDARD_PRODUCT_SUMS_HPP

#include "integer_wrap.hpp"

namespace standard {

// The type in which products of T are summed.
template <class T>
struct sum_of {
  typedef wrapping_t<T> type;
};
template <>
struct sum_of<bool> {
  typedef bool type;
};
template <class T>
using sum_t = typename sum_of<T>::type;

template <class S>
GUF_DEVICE S multiply_add(S sum, S x, S y) {
  if constexpr (guf::is_same<S, bool>::value) {
    return sum || (x && y);
  } else {
    return sum + x * y;
  }
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_PRODUCT_SUMS_HPP
