// SPDX-License-Identifier: Apache-2.0
// Kernels that choose between complex numbers. The compiler keeps what is chosen from on the stack,
// in places that all iterations of a loop share: a loop whose iterations were promised to touch
// nothing in common was vectorised wrongly (clang 19).
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE bool is_before(guf::complex<T> x, guf::complex<T> y) {
  return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im <= y.im);
}

// By the operator; what follows or precedes it decides where the numbers lie.
template <class T>
GUF_DEVICE guf::complex<T> lesser(guf::complex<T> x, guf::complex<T> y) {
  return is_before(x, y) || x.re != x.re || x.im != x.im ? x : y;
}
GUF_UFUNC(lesser, "FF->F DD->D", "commutative", "associative");

// By an index.
template <class T>
GUF_DEVICE guf::complex<T> element(int k, guf::complex<T> x, guf::complex<T> y) {
  const guf::complex<T> both[2] = {guf::complex<T>(x.re, x.im), guf::complex<T>(y.re, y.im)};
  return guf::complex<T>(both[k].re, both[k].im);
}
template <class T>
GUF_DEVICE guf::complex<T> first(guf::complex<T> x, guf::complex<T> y) {
  return element(is_before(x, y) ? 0 : 1, x, y);
}
GUF_UFUNC(first, "FF->F DD->D", "commutative", "associative");

template <class T>
GUF_DEVICE void lesser_both(guf::complex<T> x, guf::complex<T> y, guf::out<guf::complex<T>> plain,
                            guf::out<guf::complex<T>> negated) {
  plain = lesser(x, y);
  negated = lesser(-x, -y);
}
GUF_UFUNC(lesser_both, "FF->FF DD->DD");

template <class T>
GUF_DEVICE void sorted(guf::complex<T> x, guf::complex<T> y, guf::out<guf::complex<T>> a,
                       guf::out<guf::complex<T>> b) {
  const int k = is_before(x, y) ? 0 : 1;
  a = element(k, x, y);
  b = element(1 - k, x, y);
}
GUF_UFUNC(sorted, "FF->FF DD->DD");

template <class T>
GUF_DEVICE void sorted_and_apart(guf::complex<T> x, guf::complex<T> y, guf::out<guf::complex<T>> a,
                                 guf::out<guf::complex<T>> b, guf::out<T> apart) {
  sorted(x, y, a, b);
  apart = b.re - a.re;
}
GUF_UFUNC(sorted_and_apart, "FF->FFf DD->DDd");
