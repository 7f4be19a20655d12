// SPDX-License-Identifier: Apache-2.0
// NumPy's order for sorting: NaN and NaT are last. Complex numbers are ordered by the real part,
// then by the imaginary part. Those with NaN parts are last: first those with a NaN imaginary part,
// then those with a NaN real part, then those with both.
#ifndef GUFUNC_KERNELS_STANDARD_TOTAL_ORDER_HPP
#define GUFUNC_KERNELS_STANDARD_TOTAL_ORDER_HPP

#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE bool precedes(T x, T y) {
  return x < y || (y != y && x == x);
}

// Returns 1 if the imaginary part is NaN, plus 2 if the real part is NaN.
template <class T>
GUF_DEVICE int nan_class(guf::complex<T> z) {
  return (z.im != z.im ? 1 : 0) + (z.re != z.re ? 2 : 0);
}
template <class T>
GUF_DEVICE bool precedes(guf::complex<T> x, guf::complex<T> y) {
  const int of_x = nan_class(x), of_y = nan_class(y);
  if (of_x != of_y) return of_x < of_y;
  // Comparisons of NaN parts are false, so the other parts decide.
  const bool real_parts_decide = x.re < y.re || y.re < x.re;
  return real_parts_decide ? x.re < y.re : x.im < y.im;
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_TOTAL_ORDER_HPP
