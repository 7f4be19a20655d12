// SPDX-License-Identifier: Apache-2.0
// sort, argsort, searchsorted and median, in NumPy's order.
#include <gufunc/ops_loops.h>

#include "bound.hpp"
#include "merge_sort.hpp"
#include "ordered_bits.hpp"
#include "total_order.hpp"

namespace standard {

struct precedes_op {
  template <class T>
  GUF_DEVICE bool operator()(T x, T y) const {
    return precedes(x, y);
  }
};

template <class G, class X, class Y>
GUF_DEVICE void sort(G g, X x, Y y) {
  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) y[i] = x[i];
  merge_sort(g, y, precedes_op());
}

template <class G, class X, class Y>
GUF_DEVICE void argsort(G g, X x, Y y) {
  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) y[i] = i;
  merge_sort(g, y, [&](guf::i64 i, guf::i64 j) { return precedes(x[i], x[j]); });
}

template <bool AfterEqual, class G, class X, class V, class Y>
GUF_DEVICE void find_places(G &g, X x, V values, Y y) {
  for (guf::i64 i = g.rank(); i < values.extent(0); i += g.size()) {
    y[i] = bound(x, 0, x.extent(0), values[i], AfterEqual, precedes_op());
  }
}
template <class G, class X, class V, class Y>
GUF_DEVICE void searchsorted(G g, X x, V values, Y y) {
  find_places<false>(g, x, values, y);
}
template <class G, class X, class V, class Y>
GUF_DEVICE void searchsorted_right(G g, X x, V values, Y y) {
  find_places<true>(g, x, values, y);
}

template <class G, class X, class T>
GUF_DEVICE guf::i64 count_up_to(G &g, X x, T limit) {
  return g.sum(x.extent(0), [&](guf::i64 i) { return (guf::i64)(x[i] <= limit); });
}

// Returns element k of the sorted elements, by bisection between the least and the greatest
// element, which needs no memory. No element may be NaN.
template <class G, class X, class T>
GUF_DEVICE T ranked(G &g, X x, guf::i64 k, T least, T greatest) {
  auto low = ordered_bits(least), high = ordered_bits(greatest);
  while (low < high) {
    const auto middle = (low & high) + ((low ^ high) >> 1);  // low + high may overflow
    const T limit = from_ordered_bits(middle);
    const guf::i64 count = count_up_to(g, x, limit);
    if (count == k + 1) {
      return g.max(x.extent(0), [&](guf::i64 i) { return x[i] <= limit ? x[i] : least; });
    }
    if (count > k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return from_ordered_bits(low);
}

template <class G, class X, class Y>
GUF_DEVICE void median(G g, X x, Y y) {
  typedef guf::value_t<typename X::type> T;
  const guf::i64 n = x.extent(0);
  const auto element = [&](guf::i64 i) { return x[i]; };
  const T least = g.min(n, element), greatest = g.max(n, element);
  if (n == 0 || greatest != greatest) {
    y() = guf::limits<T>::nan;
    return;
  }
  const T lower = ranked(g, x, (n - 1) / 2, least, greatest);
  if (n % 2 != 0) {
    y() = lower;
    return;
  }
  const bool repeats = count_up_to(g, x, lower) > n / 2;
  const T next = g.min(n, [&](guf::i64 i) { return x[i] > lower ? x[i] : greatest; });
  y() = (lower + (repeats ? lower : next)) / T(2);
}

}  // namespace standard

GUF_GUFUNC(standard::sort, "(n)->(n)", GUF_LOOPS_sort, "group");
GUF_GUFUNC(standard::argsort, "(n)->(n)", GUF_LOOPS_argsort, "group");
GUF_GUFUNC(standard::searchsorted, "(n),(m)->(m)", GUF_LOOPS_searchsorted, "group");
GUF_GUFUNC(standard::searchsorted_right, "(n),(m)->(m)", GUF_LOOPS_searchsorted_right, "group");
GUF_GUFUNC(standard::median, "(n)->()", GUF_LOOPS_median, "group");
