// SPDX-License-Identifier: Apache-2.0
// softmax, log_softmax and logsumexp. The greatest element is subtracted from each element before
// exp, so that exp cannot overflow. Sums are in the order of the dialect's reduction tree
// (gufunc/kernel/reduce_tree.hpp). f16 and bf16 are computed in f32 and rounded once.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class G, class X>
GUF_DEVICE auto greatest(G &g, X x) {
  return g.max(x.extent(0), [&](guf::i64 i) { return x[i]; });
}

// Returns 0 if the greatest element is not finite: inf - inf would be NaN.
template <class T>
GUF_DEVICE T finite_or_zero(T x) {
  return guf::isfinite(x) ? x : T(0);
}

template <class G, class X, class T>
GUF_DEVICE T sum_of_exp(G &g, X x, T shift) {
  return g.sum(x.extent(0), [&](guf::i64 i) { return guf::exp(x[i] - shift); });
}

template <class G, class X, class Y>
GUF_DEVICE void softmax(G g, X x, Y y) {
  const guf::i64 n = x.extent(0);
  const auto shift = greatest(g, x);
  if constexpr (guf::is_stored_float<typename Y::type>::value) {
    const auto sum = sum_of_exp(g, x, shift);
    for (guf::i64 i = g.rank(); i < n; i += g.size()) y[i] = guf::exp(x[i] - shift) / sum;
  } else {  // y holds the powers, so that each is computed once
    for (guf::i64 i = g.rank(); i < n; i += g.size()) y[i] = guf::exp(x[i] - shift);
    g.sync();
    const auto sum = g.sum(n, [&](guf::i64 i) { return y[i]; });
    for (guf::i64 i = g.rank(); i < n; i += g.size()) y[i] /= sum;
  }
}

template <class G, class X, class Y>
GUF_DEVICE void log_softmax(G g, X x, Y y) {
  const auto shift = finite_or_zero(greatest(g, x));
  const auto log_sum = guf::log(sum_of_exp(g, x, shift));
  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) y[i] = x[i] - shift - log_sum;
}

template <class G, class X, class Y>
GUF_DEVICE void logsumexp(G g, X x, Y y) {
  const auto shift = finite_or_zero(greatest(g, x));
  y() = shift + guf::log(sum_of_exp(g, x, shift));
}

}  // namespace standard

GUF_GUFUNC(standard::softmax, "(n)->(n)", GUF_LOOPS_softmax, "group");
GUF_GUFUNC(standard::log_softmax, "(n)->(n)", GUF_LOOPS_log_softmax, "group");
GUF_GUFUNC(standard::logsumexp, "(n)->()", GUF_LOOPS_logsumexp, "group");
