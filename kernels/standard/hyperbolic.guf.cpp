// SPDX-License-Identifier: Apache-2.0
// Hyperbolic functions and their inverses.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T sinh(T x) {
  return guf::sinh(x);
}
template <class T>
GUF_DEVICE T cosh(T x) {
  return guf::cosh(x);
}
template <class T>
GUF_DEVICE T tanh(T x) {
  return guf::tanh(x);
}
template <class T>
GUF_DEVICE T arcsinh(T x) {
  return guf::asinh(x);
}
template <class T>
GUF_DEVICE T arccosh(T x) {
  return guf::acosh(x);
}
template <class T>
GUF_DEVICE T arctanh(T x) {
  return guf::atanh(x);
}

}  // namespace standard

GUF_UFUNC(standard::sinh, GUF_LOOPS_sinh);
GUF_UFUNC(standard::cosh, GUF_LOOPS_cosh);
GUF_UFUNC(standard::tanh, GUF_LOOPS_tanh);
GUF_UFUNC(standard::arcsinh, GUF_LOOPS_arcsinh);
GUF_UFUNC(standard::arccosh, GUF_LOOPS_arccosh);
GUF_UFUNC(standard::arctanh, GUF_LOOPS_arctanh);
