// SPDX-License-Identifier: Apache-2.0
// The module for the tests of fork() and of the loader's memory.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T twofold(T x) {
  return x + x;
}
GUF_UFUNC(twofold, "f->f d->d", "doc=two times x");
