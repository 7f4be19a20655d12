// SPDX-License-Identifier: Apache-2.0
// exp, log, sqrt and ldexp.
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
