// SPDX-License-Identifier: Apache-2.0
// NumPy's order of complex numbers: by the real part, then by the imaginary part.
// A comparison is false if any part is NaN.
#ifndef GUFUNC_KERNELS_STANDARD_COMPLEX_ORDER_HPP
#define GUFUNC_KERNELS_STANDARD_COMPLEX_ORDER_HPP

#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE bool has_nan(guf::complex<T> z) {
  return z.re != z.re || z.im != z.im;
}
template <class T>
GUF_DEVICE bool has_nan(T x) {
  return x != x;
}

// Returns whether the imaginary parts can be compared, that is, whether neither is NaN.
template <class T>
GUF_DEVICE bool ordered(guf::complex<T> x, guf::complex<T> y) {
  return x.im == x.im && y.im == y.im;
}

template <class T>
GUF_DEVICE bool is_less(T x, T y) {
  return x < y;
}
template <class T>
GUF_DEVICE bool is_less(guf::complex<T> x, guf::complex<T> y) {
  return (x.re < y.re && ordered(x, y)) || (x.re == y.re && x.im < y.im);
}

template <class T>
GUF_DEVICE bool is_less_equal(T x, T y) {
  return x <= y;
}
template <class T>
GUF_DEVICE bool is_less_equal(guf::complex<T> x, guf::complex<T> y) {
  return (x.re < y.re && ordered(x, y)) || (x.re == y.re && x.im <= y.im);
}

// Selects each part of a complex number separately.
// A selection between two structs would become a selection between two addresses on the stack,
// which all iterations of a vectorised loop would share (observed with complex128 and clang 19).
template <class T>
GUF_DEVICE T choose(bool first, T x, T y) {
  return first ? x : y;
}
template <class T>
GUF_DEVICE guf::complex<T> choose(bool first, guf::complex<T> x, guf::complex<T> y) {
  return guf::complex<T>(first ? x.re : y.re, first ? x.im : y.im);
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_COMPLEX_ORDER_HPP
