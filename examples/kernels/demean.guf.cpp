// SPDX-License-Identifier: Apache-2.0
// Subtracts the mean of each row from its elements. A group of threads processes each row: the
// threads of a block on a GPU, one thread on the cpu. The sum has the same bits for every group
// size.
#include <gufunc/kernel.hpp>

template <class G, class X, class Y>
GUF_DEVICE void demean(G g, X x, Y y) {
  const guf::i64 n = x.extent(0);
  const auto mean = g.sum(n, [&](guf::i64 i) { return x[i]; }) / guf::value_t<typename X::type>(n);
  for (guf::i64 i = g.rank(); i < n; i += g.size()) y[i] = x[i] - mean;
}
GUF_GUFUNC(demean, "(n)->(n)", "f->f d->d", "group");
