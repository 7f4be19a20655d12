// SPDX-License-Identifier: Apache-2.0
// interp, piecewise linear interpolation, with NumPy's formula.
#include <gufunc/ops_loops.h>

#include "bound.hpp"

namespace standard {

// Interpolates from the point (left, at_left) to the point (right, at_right). If an infinite slope
// or ordinate makes the formula for the left point NaN, the formula for the right point is used.
template <class T>
GUF_DEVICE T from_slope(T slope, T x, T left, T right, T at_left, T at_right) {
  T result = slope * (x - left) + at_left;
  if (result == result) return result;
  result = slope * (x - right) + at_right;
  return result != result && at_left == at_right ? at_left : result;
}
template <class T>
GUF_DEVICE T between(T x, T left, T right, T at_left, T at_right) {
  return from_slope((at_right - at_left) / (right - left), x, left, right, at_left, at_right);
}
// NumPy multiplies the difference of complex ordinates by the rounded reciprocal.
template <class T>
GUF_DEVICE guf::complex<T> between(T x, T left, T right, guf::complex<T> at_left,
                                   guf::complex<T> at_right) {
  const T inverse = T(1) / (right - left);
  return guf::complex<T>(
      from_slope((at_right.re - at_left.re) * inverse, x, left, right, at_left.re, at_right.re),
      from_slope((at_right.im - at_left.im) * inverse, x, left, right, at_left.im, at_right.im));
}

// The value at x of the function through the points (xs[i], ys[i]), for ascending xs. Before the
// first point and after the last one, the function is constant.
template <class T, class X, class Y>
GUF_DEVICE auto interpolated(T x, X xs, Y ys) {
  typedef guf::value_t<typename Y::type> V;
  const guf::i64 n = xs.extent(0);
  if (n == 1) return (V)ys[0];  // even if x is NaN, as in NumPy
  if (x != x) return V(x);
  // The last point that is not after x.
  const guf::i64 j = bound(xs, 0, n, x, true, [](T a, T b) { return a < b; }) - 1;
  if (j < 0) return (V)ys[0];
  if (j == n - 1 || xs[j] == x) return (V)ys[j];
  return between(x, (T)xs[j], (T)xs[j + 1], (V)ys[j], (V)ys[j + 1]);
}

template <class G, class X, class Xs, class Ys, class Z>
GUF_DEVICE void interp(G g, X x, Xs xs, Ys ys, Z z, bool &failed) {
  if (xs.extent(0) == 0) {
    failed = true;
    return;
  }
  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) z[i] = interpolated(x[i], xs, ys);
}

}  // namespace standard

GUF_GUFUNC(standard::interp, "(m),(n),(n)->(m)", GUF_LOOPS_interp, "group",
           "failure=array of sample points is empty");
