// SPDX-License-Identifier: Apache-2.0
// Rows less their means, by a group of threads for each row: those of a block on a device, one on
// the cpu. The sum has the same bits whatever the group is.
#include <gufunc/kernel.hpp>

template <class G, class X, class Y>
GUF_DEVICE void demean(G g, X x, Y y) {
  const guf::i64 n = x.extent(0);
  const auto mean = g.sum(n, [&](guf::i64 i) { return x[i]; }) / guf::value_t<typename X::type>(n);
  for (guf::i64 i = g.rank(); i < n; i += g.size()) y[i] = x[i] - mean;
}
GUF_GUFUNC(demean, "(n)->(n)", "f->f d->d", "group");
