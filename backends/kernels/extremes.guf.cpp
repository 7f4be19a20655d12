// SPDX-License-Identifier: Apache-2.0
// maximum and minimum, where a NaN wins, fmax and fmin, where it loses. Equal operands: the first.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"

namespace standard {

template <class T>
GUF_DEVICE T maximum(T x, T y) {
  return choose(is_less_equal(y, x) || has_nan(x), x, y);
}
template <class T>
GUF_DEVICE T minimum(T x, T y) {
  return choose(is_less_equal(x, y) || has_nan(x), x, y);
}
template <class T>
GUF_DEVICE T fmax(T x, T y) {
  return choose(is_less_equal(y, x) || has_nan(y), x, y);
}
template <class T>
GUF_DEVICE T fmin(T x, T y) {
  return choose(is_less_equal(x, y) || has_nan(y), x, y);
}

}  // namespace standard

GUF_UFUNC(standard::maximum, GUF_LOOPS_maximum, "commutative", "associative");
GUF_UFUNC(standard::minimum, GUF_LOOPS_minimum, "commutative", "associative");
GUF_UFUNC(standard::fmax, GUF_LOOPS_fmax, "commutative", "associative");
GUF_UFUNC(standard::fmin, GUF_LOOPS_fmin, "commutative", "associative");
