// SPDX-License-Identifier: Apache-2.0
// Computes x, x + x**2, x + x**2 + x**3, ... in a row whose first element is x. The kernel reads
// its output, so the operand is inout. The kernel accumulates in the dtype of the loop: the f32
// loop uses f32 throughout.
#include <gufunc/kernel.hpp>

template <class Row>
GUF_DEVICE void cumulative_power(Row row) {
  if (row.size() == 0) return;
  const auto x = guf::load(row[0]);
  auto sum = x;
  auto power = x;
  for (guf::i64 i = 1; i < row.extent(0); ++i) {
    power *= x;
    sum += power;
    row[i] = sum;
  }
}
GUF_GUFUNC(cumulative_power, "(n)", "f d", "roles=inout", "inplace_safe");
