// SPDX-License-Identifier: Apache-2.0
// A kernel of the external project. The installed gufcc compiles it, and the project's program runs
// it.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T twice(T x) {
  return x + x;
}
GUF_UFUNC(twice, "f->f d->d", "doc=x + x");
