// SPDX-License-Identifier: Apache-2.0
// cross, norm, diff and convolve. f16 and bf16 are computed in f32 and rounded once, and integers
// wrap. ops.def has the rules for the sizes of outputs.
#include <gufunc/ops_loops.h>

#include "euclidean_norm.hpp"
#include "product_sums.hpp"
#include "time_arithmetic.hpp"

namespace standard {

template <class X, class Y, class Z>
GUF_DEVICE void cross(X x, Y y, Z z) {
  typedef guf::value_t<typename Z::type> T;
  typedef wrapping_t<T> S;
  const S x0 = (S)x[0], x1 = (S)x[1], x2 = (S)x[2], y0 = (S)y[0], y1 = (S)y[1], y2 = (S)y[2];
  z[0] = (T)(x1 * y2 - x2 * y1);
  z[1] = (T)(x2 * y0 - x0 * y2);
  z[2] = (T)(x0 * y1 - x1 * y0);
}

template <class G, class X, class Y>
GUF_DEVICE void norm(G g, X x, Y y) {
  typedef guf::real_t<guf::value_t<typename X::type>> R;
  y() = euclidean_norm<R>(g, x.extent(0), [&](guf::i64 i) { return x[i]; });
}

template <class T>
GUF_DEVICE T difference(T x, T y) {
  return (T)((wrapping_t<T>)x - (wrapping_t<T>)y);
}
GUF_DEVICE bool difference(bool x, bool y) {
  return x != y;
}
GUF_DEVICE guf::timedelta difference(guf::datetime x, guf::datetime y) {
  return subtract(x, y);
}
GUF_DEVICE guf::timedelta difference(guf::timedelta x, guf::timedelta y) {
  return subtract(x, y);
}

template <class G, class X, class Y>
GUF_DEVICE void diff(G g, X x, Y y) {
  for (guf::i64 i = g.rank(); i < y.extent(0); i += g.size()) y[i] = difference(x[i + 1], x[i]);
}

// Computes kCount elements of a convolution. Each element is a sum over the shorter operand, y, in
// order.
template <class S, int kCount, class X, class Y, class Z>
GUF_DEVICE void convolve_elements(X x, Y y, Z z, guf::i64 first) {
  const guf::i64 m = y.extent(0);
  S sum[kCount];
  for (int c = 0; c < kCount; ++c) sum[c] = S(0);
  for (guf::i64 k = 0; k < m; ++k) {
    const S factor = (S)y[m - 1 - k];
    for (int c = 0; c < kCount; ++c) {
      sum[c] = multiply_add<S>(sum[c], (S)x[first + k + c], factor);
    }
  }
  for (int c = 0; c < kCount; ++c) z[first + c] = (guf::value_t<typename Z::type>)sum[c];
}

template <class G, class X, class Y, class Z>
GUF_DEVICE void convolve(G g, X x, Y y, Z z) {
  typedef sum_t<guf::value_t<typename Z::type>> S;
#if defined(GUF_HOST)
  constexpr int kCount = 16;  // the sums of neighbouring elements are vectorized
#else
  constexpr int kCount = 1;
#endif
  const guf::i64 p = z.extent(0);
  const bool swaps = x.extent(0) < y.extent(0);
  guf::i64 i = (guf::i64)g.rank() * kCount;
  for (; i < p; i += (guf::i64)g.size() * kCount) {
    if (i + kCount <= p) {
      swaps ? convolve_elements<S, kCount>(y, x, z, i) : convolve_elements<S, kCount>(x, y, z, i);
      continue;
    }
    for (guf::i64 j = i; j < p; ++j) {
      swaps ? convolve_elements<S, 1>(y, x, z, j) : convolve_elements<S, 1>(x, y, z, j);
    }
  }
}

}  // namespace standard

GUF_GUFUNC(standard::cross, "(3),(3)->(3)", GUF_LOOPS_cross);
GUF_GUFUNC(standard::norm, "(n)->()", GUF_LOOPS_norm, "group");
GUF_GUFUNC(standard::diff, "(n)->(p)", GUF_LOOPS_diff, "group");
GUF_GUFUNC(standard::convolve, "(n),(m)->(p)", GUF_LOOPS_convolve, "group");
