// SPDX-License-Identifier: Apache-2.0
// Reductions whose accumulator has several values. The main kernel reduces a base block of up to
// 128 elements to an accumulator, `merge` combines two accumulators (the left one first), and
// `finish` computes the results from the last accumulator.
#include <gufunc/kernel.hpp>

// ---- largest and smallest: the value and its index in C order over the reduced axes. As in NumPy,
// the result is the first of several equal elements, and a NaN if there is one.

struct Greater {
  template <class T>
  static GUF_DEVICE bool beats(T a, T b) {
    return a > b || (a != a && b == b);
  }
};
struct Less {
  template <class T>
  static GUF_DEVICE bool beats(T a, T b) {
    return a < b || (a != a && b == b);
  }
};

template <class Order, class X, class V, class I>
GUF_DEVICE void find(X x, guf::i64 first, V value, I index) {
  auto best = guf::load(x[0]);
  guf::i64 at = 0;
  for (guf::i64 i = 1; i < x.extent(0); ++i) {
    const auto candidate = guf::load(x[i]);
    const bool wins = Order::beats(candidate, best);
    best = wins ? candidate : best;
    at = wins ? i : at;
  }
  value() = best;
  index() = first + at;
}

template <class Order, class T>
GUF_DEVICE void choose(T a, guf::i64 i, T b, guf::i64 j, guf::out<T> value,
                       guf::out<guf::i64> index) {
  const bool right = Order::beats(b, a);
  value = right ? b : a;
  index = right ? j : i;
}

GUF_GUFUNC(find<Greater>, "(n),()->(),()", "qq->qq Qq->Qq fq->fq dq->dq", "name=largest",
           "merge=largest_merge", "doc=The greatest element and its number");
GUF_UFUNC(choose<Greater>, "qqqq->qq QqQq->Qq fqfq->fq dqdq->dq", "name=largest_merge");

GUF_GUFUNC(find<Less>, "(n),()->(),()", "qq->qq Qq->Qq fq->fq dq->dq", "name=smallest",
           "merge=smallest_merge", "doc=The least element and its number");
GUF_UFUNC(choose<Less>, "qqqq->qq QqQq->Qq fqfq->fq dqdq->dq", "name=smallest_merge");

// ---- minmax: minimum and maximum in one pass.

template <class X, class L, class H>
GUF_DEVICE void minmax(X x, L least, H greatest) {
  auto low = guf::load(x[0]), high = low;
  for (guf::i64 i = 1; i < x.extent(0); ++i) {
    const auto value = guf::load(x[i]);
    low = Less::beats(value, low) ? value : low;
    high = Greater::beats(value, high) ? value : high;
  }
  least() = low;
  greatest() = high;
}
template <class T>
GUF_DEVICE void minmax_merge(T low, T high, T other_low, T other_high, guf::out<T> least,
                             guf::out<T> greatest) {
  least = Less::beats(other_low, low) ? other_low : low;
  greatest = Greater::beats(other_high, high) ? other_high : high;
}
GUF_GUFUNC(minmax, "(n)->(),()", "q->qq Q->QQ f->ff d->dd", "merge=minmax_merge",
           "doc=The least and the greatest element");
GUF_UFUNC(minmax_merge, "qqqq->qq QQQQ->QQ ffff->ff dddd->dd");

// ---- mean and variance: the accumulator has the count, the mean and the sum of squared
// deviations. Base blocks use Welford's algorithm, and Chan's formula combines them. If an element
// is infinite, the variance is NaN, and the mean is infinite or NaN. An empty accumulator is valid,
// so empty axes and masks are supported.

template <class X, class M, class N, class A, class S>
GUF_DEVICE void mean_variance(X x, guf::i64, M mask, N count, A mean, S squares) {
  guf::i64 n = 0;
  guf::f64 average = 0, sum = 0;
  for (guf::i64 i = 0; i < x.extent(0); ++i) {
    if (!mask[i]) continue;
    const guf::f64 value = (guf::f64)guf::load(x[i]);
    const guf::f64 apart = value - average;
    average += apart / (guf::f64)++n;
    sum += apart * (value - average);
  }
  count() = n;
  mean() = average;
  squares() = sum;
}
GUF_DEVICE void mean_variance_merge(guf::i64 n, guf::f64 a, guf::f64 s, guf::i64 m, guf::f64 b,
                                    guf::f64 t, guf::out<guf::i64> count, guf::out<guf::f64> mean,
                                    guf::out<guf::f64> squares) {
  const guf::i64 all = n + m;
  const guf::f64 apart = b - a, share = all == 0 ? 0 : (guf::f64)m / (guf::f64)all;
  count = all;
  mean = n == 0 ? b : a + apart * share;
  squares = n == 0 ? t : s + t + apart * apart * share * (guf::f64)n;
}
GUF_DEVICE void mean_variance_finish(guf::i64 n, guf::f64 a, guf::f64 s, guf::out<guf::f64> mean,
                                     guf::out<guf::f64> variance) {
  mean = n == 0 ? guf::nan : a;
  variance = n == 0 ? guf::nan : s / (guf::f64)n;
}
GUF_GUFUNC(mean_variance, "(n),(),(n)->(),(),()", "fq?->qdd dq?->qdd", "accepts_empty",
           "merge=mean_variance_merge", "finish=mean_variance_finish",
           "doc=Mean and variance of a population");
GUF_UFUNC(mean_variance_merge, "qddqdd->qdd");
GUF_UFUNC(mean_variance_finish, "qdd->dd");
