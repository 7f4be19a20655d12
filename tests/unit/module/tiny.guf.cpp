// SPDX-License-Identifier: Apache-2.0
// A small real module for tests to corrupt. It has two loops and one ISA level.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T triple(T x) {
  return x + x + x;
}
GUF_UFUNC(triple, "f->f d->d", "doc=three times x");
