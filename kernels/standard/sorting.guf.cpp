// SPDX-License-Identifier: Apache-2.0
// sort, argsort, partition, searchsorted, median, quantile and percentile, in NumPy's order.
#include <gufunc/ops_loops.h>

#include "bound.hpp"
#include "complex_order.hpp"
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

// ---- partition

template <class Y>
GUF_DEVICE void exchange(Y y, guf::i64 i, guf::i64 j) {
  const auto value = guf::load(y[i]);
  y[i] = guf::load(y[j]);
  y[j] = value;
}

// Sorts y[first], ..., y[last - 1] with a heap, whose root is the greatest element.
template <class Y>
GUF_DEVICE void heap_sort(Y y, guf::i64 first, guf::i64 last) {
  const guf::i64 n = last - first;
  for (guf::i64 step = n / 2 + n; step-- > 1;) {
    // The first n / 2 steps build the heap; each later step moves the root behind the heap.
    guf::i64 size = n, node = step - n;
    if (step < n) {
      exchange(y, first, first + step);
      size = step;
      node = 0;
    }
    for (guf::i64 child = 2 * node + 1; child < size; child = 2 * node + 1) {
      const bool has_right = child + 1 < size;
      if (has_right && precedes(guf::load(y[first + child]), guf::load(y[first + child + 1])))
        ++child;
      if (!precedes(guf::load(y[first + node]), guf::load(y[first + child]))) break;
      exchange(y, first + node, first + child);
      node = child;
    }
  }
}

template <class T>
GUF_DEVICE T middle_of(T a, T b, T c) {
  const bool b_first = precedes(b, a);
  const T low = choose(b_first, b, a), high = choose(b_first, a, b);
  if (precedes(c, low)) return low;
  return choose(precedes(c, high), c, high);
}

// Rearranges y so that element k is the one of the sorted elements, no element before it is
// greater, and no element after it is less: Hoare's selection, with the middle of three elements
// as the pivot. If the remaining part is still long after 2 log2(n) steps, it is sorted.
template <class Y>
GUF_DEVICE void select_element(Y y, guf::i64 k) {
  guf::i64 first = 0, last = y.extent(0);
  int steps = 2;
  for (guf::i64 n = last; n > 1; n /= 2) steps += 2;
  for (; last - first > 1; --steps) {
    if (steps == 0) return heap_sort(y, first, last);
    guf::i64 i = first, j = last - 1;
    const auto pivot = middle_of(guf::load(y[i]), guf::load(y[i + (j - i) / 2]), guf::load(y[j]));
    while (i <= j) {
      while (precedes(guf::load(y[i]), pivot)) ++i;
      while (precedes(pivot, guf::load(y[j]))) --j;
      if (i <= j) exchange(y, i++, j--);
    }
    if (k > j && k < i) return;  // all elements in between equal the pivot
    if (k <= j) {
      last = j + 1;
    } else {
      first = i;
    }
  }
}

template <class X, class Y>
GUF_DEVICE void partition(X x, guf::i64 k, Y y, bool &failed) {
  const guf::i64 n = x.extent(0);
  for (guf::i64 i = 0; i < n; ++i) y[i] = x[i];
  if (k < 0) k += n;
  if (n == 0) return;
  if (k < 0 || k >= n) {
    failed = true;
    return;
  }
  select_element(y, k);
}

// ---- Elements of given ranks, without memory for sorted elements.

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

// Interpolates between the two elements next to position (n - 1) * q of the sorted elements, with
// the formulas of NumPy's method 'linear'. At the last position, NumPy interpolates between the
// last element and itself. This function does the same, and returns NaN if that element is
// infinite.
template <class G, class X, class Y>
GUF_DEVICE void interpolate_quantile(G &g, X x, guf::f64 q, Y y, bool &failed) {
  typedef guf::value_t<typename X::type> T;
  const guf::i64 n = x.extent(0);
  const auto element = [&](guf::i64 i) { return x[i]; };
  const T least = g.min(n, element), greatest = g.max(n, element);
  const bool inside = q >= 0 && q <= 1;
  failed = failed || !inside;
  if (!inside || n == 0 || greatest != greatest) {
    y() = guf::limits<T>::nan;
    return;
  }
  const guf::f64 position = (guf::f64)(n - 1) * q;
  const bool at_end = position >= (guf::f64)(n - 1);
  const guf::i64 k = at_end ? n - 1 : (guf::i64)position;
  const T lower = ranked(g, x, k, least, greatest);
  const bool repeats = at_end || count_up_to(g, x, lower) > k + 1;
  const T next = g.min(n, [&](guf::i64 i) { return x[i] > lower ? x[i] : greatest; });
  const guf::f64 share = position - (guf::f64)(at_end ? -1 : k);
  const T upper = repeats ? lower : next, rise = upper - lower;
  y() = share >= 0.5 ? upper - rise * (T)(1.0 - share) : lower + rise * (T)share;
}

template <class G, class X, class Y>
GUF_DEVICE void quantile(G g, X x, guf::f64 q, Y y, bool &failed) {
  interpolate_quantile(g, x, q, y, failed);
}
template <class G, class X, class Y>
GUF_DEVICE void percentile(G g, X x, guf::f64 percent, Y y, bool &failed) {
  interpolate_quantile(g, x, percent / 100.0, y, failed);
}

}  // namespace standard

GUF_GUFUNC(standard::sort, "(n)->(n)", GUF_LOOPS_sort, "group");
GUF_GUFUNC(standard::argsort, "(n)->(n)", GUF_LOOPS_argsort, "group");
GUF_GUFUNC(standard::searchsorted, "(n),(m)->(m)", GUF_LOOPS_searchsorted, "group");
GUF_GUFUNC(standard::searchsorted_right, "(n),(m)->(m)", GUF_LOOPS_searchsorted_right, "group");
GUF_GUFUNC(standard::median, "(n)->()", GUF_LOOPS_median, "group");
GUF_GUFUNC(standard::partition, "(n),()->(n)", GUF_LOOPS_partition, "failure=kth out of bounds");
GUF_GUFUNC(standard::quantile, "(n),()->()", GUF_LOOPS_quantile, "group",
           "failure=Quantiles must be in the range [0, 1]");
GUF_GUFUNC(standard::percentile, "(n),()->()", GUF_LOOPS_percentile, "group",
           "failure=Percentiles must be in the range [0, 100]");
