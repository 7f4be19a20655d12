// SPDX-License-Identifier: Apache-2.0
// The normalised Hermite recurrence h[k+1] = (x h[k] - sqrt(k) h[k-1]) / sqrt(k+1) over a row that starts with
// 1, x: reads its output, so the operand is inout. Everything is computed in the loop's own type.
#include <gufunc/kernel.hpp>

template <class Row>
GUF_DEVICE void hermite(Row h) {
  if (h.extent(0) < 2) return;
  const auto x = guf::load(h[1]);
  typedef guf::value_t<typename Row::type> T;
  for (guf::i64 k = 1; k + 1 < h.extent(0); ++k) {
    h[k + 1] = (x * h[k] - guf::sqrt(T(k)) * h[k - 1]) / guf::sqrt(T(k + 1));
  }
}
GUF_GUFUNC(hermite, "(n)", "f d", "roles=inout", "inplace_safe");
