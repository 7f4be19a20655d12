// SPDX-License-Identifier: Apache-2.0
// sinc, a function of NumPy that the standard library does not have. The oracle, the corpus and the
// tests of the command line load this module in addition to the standard library, whose functions
// must then behave as without it.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T sinc(T x) {
  const T angle = T(guf::pi) * x;
  return x == T(0) ? T(1) : guf::sin(angle) / angle;
}
GUF_UFUNC(sinc, "f->f d->d");
