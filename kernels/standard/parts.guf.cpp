// SPDX-License-Identifier: Apache-2.0
// modf and frexp, which split a number into two parts.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE void modf(T x, guf::out<T> fraction, guf::out<T> whole) {
  const guf::modf_result<T> parts = guf::modf(x);
  fraction = parts.fraction;
  whole = parts.whole;
}

template <class T>
GUF_DEVICE void frexp(T x, guf::out<T> fraction, guf::out<guf::i32> exponent) {
  const guf::frexp_result<T> parts = guf::frexp(x);
  fraction = parts.fraction;
  exponent = parts.exponent;
}

}  // namespace standard

GUF_UFUNC(standard::modf, GUF_LOOPS_modf);
GUF_UFUNC(standard::frexp, GUF_LOOPS_frexp);
