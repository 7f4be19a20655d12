// SPDX-License-Identifier: Apache-2.0
// What the dialect has and the standard library does not have yet, as a module: corner case 18
// asks NumPy and these functions the same.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE void frexp(T x, guf::out<T> fraction, guf::out<guf::i32> exponent) {
  const auto parts = guf::frexp(x);
  fraction = parts.fraction;
  exponent = parts.exponent;
}
GUF_UFUNC(frexp, "f->fi d->di");

template <class T>
GUF_DEVICE T ldexp(T x, guf::i32 exponent) {
  return guf::ldexp(x, exponent);
}
GUF_UFUNC(ldexp, "fi->f di->d");

template <class T>
GUF_DEVICE T nextafter(T x, T y) {
  return guf::nextafter(x, y);
}
GUF_UFUNC(nextafter, "ff->f dd->d");

template <class T>
GUF_DEVICE T rint(T x) {
  return guf::rint(x);
}
GUF_UFUNC(rint, "f->f d->d");
