// SPDX-License-Identifier: Apache-2.0
// A module for the command line tests: a ufunc without inputs, and a signature with spaces.
#include <gufunc/kernel.hpp>

template <class Y>
GUF_DEVICE void grid(Y y) {
  const guf::i64 n = y.extent(0);
  for (guf::i64 i = 0; i < n; ++i) y[i] = (guf::f64)i / (guf::f64)(n - 1);
}
GUF_GUFUNC(grid, "->(n)", "->d", "doc=Equal steps from 0 to 1");

template <class X, class Factor, class Y>
GUF_DEVICE void scaled(X x, Factor factor, Y y) {
  for (guf::i64 i = 0; i < y.extent(0); ++i) y[i] = x[i] * factor;
}
GUF_GUFUNC(scaled, "( n ) , ( ) -> ( n )", "dd->d");
