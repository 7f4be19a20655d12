// SPDX-License-Identifier: Apache-2.0
// Functions of NumPy that the standard library does not have, written in the dialect and with
// NumPy's names. The functions with two outputs or three inputs are used by the oracle, the corner
// cases and the command line tests. The functions that split floats into parts are used by corner
// case 18.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE void divmod(T x, T y, guf::out<T> quotient, guf::out<T> remainder) {
  const auto parts = guf::floor_divmod(x, y);
  quotient = parts.quotient;
  remainder = parts.remainder;
}
GUF_UFUNC(divmod, "bb->bb BB->BB hh->hh HH->HH ii->ii II->II qq->qq QQ->QQ ee->ee ff->ff dd->dd",
          "divides");

GUF_DEVICE void timedelta_divmod(guf::timedelta x, guf::timedelta y, guf::out<guf::i64> quotient,
                                 guf::out<guf::timedelta> remainder) {
  const bool open = x.value == guf::nat || y.value == guf::nat || y.value == 0;
  const auto parts = guf::floor_divmod(x.value, open ? guf::i64(1) : y.value);
  quotient = open ? guf::i64(0) : parts.quotient;
  remainder = guf::timedelta{open ? guf::nat : parts.remainder};
}
GUF_UFUNC(timedelta_divmod, "mm->qm", "name=divmod", "divides");

template <class T>
GUF_DEVICE void modf(T x, guf::out<T> fraction, guf::out<T> whole) {
  const T cut = guf::trunc(x);
  fraction = guf::copysign(guf::isinf(x) ? T(0) : x - cut, x);
  whole = cut;
}
GUF_UFUNC(modf, "e->ee f->ff d->dd");

template <class T>
GUF_DEVICE void frexp(T x, guf::out<T> fraction, guf::out<guf::i32> exponent) {
  const auto parts = guf::frexp(x);
  fraction = parts.fraction;
  exponent = parts.exponent;
}
GUF_UFUNC(frexp, "e->ei f->fi d->di");

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

// Comparisons with NaN are false, so if an argument is NaN, the result is NaN.
template <class T>
GUF_DEVICE T clip(T x, T low, T high) {
  const T raised = x != x || x > low ? x : low;
  return raised != raised || raised < high ? raised : high;
}
GUF_UFUNC(clip,
          "???->? bbb->b BBB->B hhh->h HHH->H iii->i III->I qqq->q QQQ->Q eee->e fff->f "
          "ddd->d");

template <class T>
GUF_DEVICE T clip_time(T x, T low, T high) {
  const bool lost = x.value == guf::nat || low.value == guf::nat || high.value == guf::nat;
  const guf::i64 raised = x.value > low.value ? x.value : low.value;
  return T{lost ? guf::nat : raised < high.value ? raised : high.value};
}
GUF_UFUNC(clip_time, "mmm->m MMM->M", "name=clip");
