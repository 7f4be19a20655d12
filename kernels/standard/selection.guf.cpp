// SPDX-License-Identifier: Apache-2.0
// clip limits a number to an interval, and select chooses one of two values.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"

namespace standard {

// Returns whether x >= y. For complex numbers with different real parts, NumPy's clip compares only
// the real parts, even if an imaginary part is NaN.
template <class T>
GUF_DEVICE bool reaches(T x, T y) {
  return x >= y;
}
template <class T>
GUF_DEVICE bool reaches(guf::complex<T> x, guf::complex<T> y) {
  return x.re == y.re ? x.im >= y.im : x.re > y.re;
}

// If x equals a limit, the result is x, including the sign of a zero. NaN and NaT propagate. If low
// is above high, the result is high.
template <class T>
GUF_DEVICE T clip(T x, T low, T high) {
  const T raised = choose(has_nan(x) || reaches(x, low), x, low);
  return choose(has_nan(raised) || reaches(high, raised), raised, high);
}

template <class T>
GUF_DEVICE T select(bool condition, T x, T y) {
  return choose(condition, x, y);
}

}  // namespace standard

GUF_UFUNC(standard::clip, GUF_LOOPS_clip);
GUF_UFUNC(standard::select, GUF_LOOPS_select);
