// SPDX-License-Identifier: Apache-2.0
// Kernels that choose between values. The compiler stores the candidates on the stack, in slots
// that all iterations of a loop share. clang 19 vectorized such loops incorrectly if the iterations
// were declared independent.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE bool is_before(guf::complex<T> x, guf::complex<T> y) {
  return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im <= y.im);
}

// Chooses with the conditional operator. The operations before and after the choice determine where
// the compiler stores the numbers.
template <class T>
GUF_DEVICE guf::complex<T> lesser(guf::complex<T> x, guf::complex<T> y) {
  return is_before(x, y) || x.re != x.re || x.im != x.im ? x : y;
}
GUF_UFUNC(lesser, "FF->F DD->D", "commutative", "associative");

// Chooses with an index.
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

// Chooses between real numbers. An array is on the stack if its index is known only at run time.
template <class T>
GUF_DEVICE T by_index(T x, T y) {
  const T all[4] = {x, y, x + y, x - y};
  return all[(int)x & 3] + T(3) * all[(int)y & 3];
}
GUF_UFUNC(by_index, "ff->f dd->d ii->i");

template <class T>
GUF_DEVICE T least(T x, T y) {
  const T both[2] = {x, y};
  return both[y < x];
}
GUF_UFUNC(least, "ff->f dd->d ii->i", "commutative", "associative");

template <class T>
GUF_DEVICE void least_most(T x, T y, guf::out<T> low, guf::out<T> high) {
  const T both[2] = {x, y};
  low = both[y < x];
  high = both[!(y < x)];
}
GUF_UFUNC(least_most, "ff->ff dd->dd ii->ii");

template <class T>
GUF_DEVICE T by_parts(T x, T y) {
  return first(guf::complex<T>(x, y), guf::complex<T>(y, x)).im;
}
GUF_UFUNC(by_parts, "ff->f dd->d");

struct by_index_paths {
  template <class T>
  static GUF_DEVICE bool in_fast_range(T x, T y) {
    const T limits[2] = {T(-100), y};
    return limits[(int)x & 1] < T(100);
  }
  template <class T>
  static GUF_DEVICE T fast_path(T x, T y) {
    return by_index(x, y);
  }
  template <class T>
  static GUF_DEVICE T full_path(T x, T y) {
    return by_index(x, y);
  }
};
template <class T>
GUF_DEVICE auto by_index_with_fast_path(T x, T y) {
  return guf::select_path<by_index_paths>(x, y);
}
GUF_UFUNC(by_index_with_fast_path, "ff->f dd->d ii->i");
