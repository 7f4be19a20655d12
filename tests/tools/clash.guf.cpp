// SPDX-License-Identifier: Apache-2.0
// A module for the command line tests: its ufunc has the name of a library function.
#include <gufunc/kernel.hpp>

GUF_DEVICE guf::f64 add(guf::f64 x, guf::f64 y) {
  return x + y + 1000;
}
GUF_UFUNC(add, "dd->d", "doc=The sum and 1000");
