// SPDX-License-Identifier: Apache-2.0
// Functions of real and complex numbers that work on the parts of a complex number.
#ifndef GUFUNC_KERNELS_STANDARD_NUMBER_PARTS_HPP
#define GUFUNC_KERNELS_STANDARD_NUMBER_PARTS_HPP

#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T conjugate(T x) {
  return x;
}
template <class T>
GUF_DEVICE guf::complex<T> conjugate(guf::complex<T> z) {
  return guf::conj(z);
}

// The square of the absolute value.
template <class T>
GUF_DEVICE T squared(T x) {
  return x * x;
}
template <class T>
GUF_DEVICE T squared(guf::complex<T> z) {
  return z.re * z.re + z.im * z.im;
}

// The greatest absolute value of the parts of a number. NaN propagates.
template <class T>
GUF_DEVICE T magnitude(T x) {
  return guf::fabs(x);
}
template <class T>
GUF_DEVICE T magnitude(guf::complex<T> z) {
  return guf::max_op()(guf::fabs(z.re), guf::fabs(z.im));
}

template <class T>
GUF_DEVICE T divided(T x, T divisor) {
  return x / divisor;
}
template <class T>
GUF_DEVICE guf::complex<T> divided(guf::complex<T> z, T divisor) {
  return guf::complex<T>(z.re / divisor, z.im / divisor);
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_NUMBER_PARTS_HPP
