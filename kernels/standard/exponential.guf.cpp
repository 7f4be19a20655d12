// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms, roots and ldexp.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T exp(T x) {
  return guf::exp(x);
}
template <class T>
GUF_DEVICE auto log(T x) {
  return guf::select_path<guf::ranges::log>(x);
}
template <class T>
GUF_DEVICE T sqrt(T x) {
  return guf::sqrt(x);
}

template <class T>
GUF_DEVICE T exp2(T x) {
  return guf::exp2(x);
}
template <class T>
GUF_DEVICE T expm1(T x) {
  return guf::expm1(x);
}
template <class T>
GUF_DEVICE T log1p(T x) {
  return guf::log1p(x);
}
template <class T>
GUF_DEVICE auto log2(T x) {
  return guf::select_path<guf::ranges::log2>(x);
}
template <class T>
GUF_DEVICE auto log10(T x) {
  return guf::select_path<guf::ranges::log10>(x);
}
template <class T>
GUF_DEVICE T cbrt(T x) {
  return guf::cbrt(x);
}

// Exponents outside the range of int are clamped. The result is then 0 or infinite for every finite
// x other than 0.
template <class T>
GUF_DEVICE T ldexp(T x, guf::i64 exponent) {
  constexpr guf::i64 most = guf::limits<guf::i32>::max;
  return guf::ldexp(x, (guf::i32)(exponent < -most ? -most : most < exponent ? most : exponent));
}

}  // namespace standard

GUF_UFUNC(standard::exp, GUF_LOOPS_exp);
GUF_UFUNC(standard::log, GUF_LOOPS_log);
GUF_UFUNC(standard::sqrt, GUF_LOOPS_sqrt);
GUF_UFUNC(standard::ldexp, GUF_LOOPS_ldexp);
GUF_UFUNC(standard::exp2, GUF_LOOPS_exp2);
GUF_UFUNC(standard::expm1, GUF_LOOPS_expm1);
GUF_UFUNC(standard::log1p, GUF_LOOPS_log1p);
GUF_UFUNC(standard::log2, GUF_LOOPS_log2);
GUF_UFUNC(standard::log10, GUF_LOOPS_log10);
GUF_UFUNC(standard::cbrt, GUF_LOOPS_cbrt);
