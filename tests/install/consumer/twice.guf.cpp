// SPDX-License-Identifier: Apache-2.0
// A stranger's kernel: built by the installed gufcc, run by the stranger's program.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T twice(T x) {
  return x + x;
}
GUF_UFUNC(twice, "f->f d->d", "doc=x + x");
