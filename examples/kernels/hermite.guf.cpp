// SPDX-License-Identifier: Apache-2.0
// Normalised Hermite polynomials He_k(x) / sqrt(k!) in a row that starts with 1, x. The recurrence
// reads earlier results, so the operand is inout. The recurrence is computed in the dtype of the
// loop; the factorial, its square root and the quotient are computed in f64 and rounded once.
#include <gufunc/kernel.hpp>

template <class Row>
GUF_DEVICE void hermite(Row h) {
  typedef typename Row::type T;
  if (h.extent(0) < 2) return;
  const auto x = guf::load(h[1]);
  for (guf::i64 k = 1; k + 1 < h.extent(0); ++k) {
    h[k + 1] = x * h[k] - guf::value_t<T>(k) * h[k - 1];
  }
  guf::f64 factorial = 1;
  for (guf::i64 k = 2; k < h.extent(0); ++k) {
    factorial *= (guf::f64)k;
    h[k] = guf::cast<T>((guf::f64)h[k] / guf::sqrt(factorial));
  }
}
GUF_GUFUNC(hermite, "(n)", "f d", "roles=inout", "inplace_safe");
