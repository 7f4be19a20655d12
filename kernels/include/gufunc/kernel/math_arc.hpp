// SPDX-License-Identifier: Apache-2.0
// The inverse trigonometric functions and hypot on the host, in f64. atan(n/d) is computed as
// atan(t) plus a constant: t is n/d, (n - d)/(n + d) or -d/n, whichever has |t| <= tan(pi/8), and
// the constant is 0, pi/4 or pi/2. t and the constant are unevaluated sums of two numbers. asin and
// acos use a polynomial up to 1/2, and asin(x) = pi/2 - 2 asin(sqrt((1 - x)/2)) beyond.
#ifndef GUFUNC_KERNEL_MATH_ARC_HPP
#define GUFUNC_KERNEL_MATH_ARC_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"
#include "math_norm.hpp"
#include "math_round.hpp"

namespace guf {
namespace detail {

constexpr f64 kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

// atan(n / d) for n, d >= 0 that are not both 0 or both infinite. n and d must be so small that
// 4 (n + d) is finite, and so large that the lower halves of their digits do not underflow.
GUF_FN pair<f64> atan_ratio(f64 n, f64 d) {
  constexpr f64 edge = 0x1.a827999fcef32p-2;  // tan(pi/8)
  const bool low = n <= edge * d, high = d <= edge * n;
  const pair<f64> difference = two_sum(n, -d), sum = two_sum(n, d);
  const f64 top = low ? n : (high ? -d : difference.hi);
  const f64 top_low = low || high ? 0.0 : difference.lo;
  const f64 bottom = low ? d : (high ? n : sum.hi);
  const f64 bottom_low = low || high ? 0.0 : sum.lo;
  const f64 inverse = 1.0 / bottom;
  const f64 t = top * inverse;
  const f64 t_low = inverse * mad(-t, bottom_low, residual(top, t, bottom) + top_low);
  const f64 quarters = low ? 0.0 : (high ? 1.0 : 0.5);
  const f64 z = t * t;
  const f64 rest = mad(t * z, polynomial(z, kAtan64), mad(-z, t_low, t_low));
  const pair<f64> total = fast_two_sum(quarters * kHalfPi, t);
  return fast_two_sum(total.hi, total.lo + mad(quarters, kHalfPiLow, rest));
}

GUF_FN f64 atan_any(f64 x) {
  const f64 size = magnitude(x);
  const f64 inside = size > 0x1p60 ? 0x1p60 : size;
  const f64 result = atan_ratio(inside, 1.0).hi;
  return size < 0x1p-28 ? x : flip_sign(result, sign_bit(x));
}

GUF_FN f64 atan2_any(f64 y, f64 x) {
  const f64 inf = limits<f64>::infinity;
  const f64 size_y = magnitude(y), size_x = magnitude(x);
  const bool both_inf = size_x == inf && size_y == inf;
  const bool both_zero = size_x == 0.0 && size_y == 0.0;
  // Replaces infinities and zeros by ordinary numbers of the same ratio.
  const f64 n = both_inf ? 1.0 : (size_y == inf ? 1.0 : (size_x == inf ? 0.0 : size_y));
  const f64 d =
      both_inf || both_zero ? 1.0 : (size_x == inf ? 1.0 : (size_y == inf ? 0.0 : size_x));
  const scaled_two s = scale_to_one(d, n);
  const bool tiny = s.y < 0x1p-500 * s.x;  // the result is the ratio itself, which may be subnormal
  const pair<f64> angle = atan_ratio(tiny ? 0.0 : s.y, s.x);
  const f64 ratio = tiny ? n / d : angle.hi;
  const bool left = sign_bit(x) != 0;
  const pair<f64> turned = fast_two_sum(2.0 * kHalfPi, -angle.hi);
  const f64 other = turned.hi + (turned.lo + (2.0 * kHalfPiLow - angle.lo));
  const f64 result = flip_sign(left ? other : ratio, sign_bit(y));
  return x != x || y != y ? x + y : result;
}

// asin(s + low) - s for 0 <= s <= 1/2.
GUF_FN f64 asin_rest(f64 s, f64 low) {
  const f64 z = s * s;
  return mad(s * z, polynomial(z, kAsin64), mad(0.5 * z, low, low));
}

struct arc_root {
  f64 root, low;
};
// sqrt((1 - x)/2) for 1/2 <= x <= 1, where 1 - x is exact.
GUF_FN arc_root half_chord(f64 x) {
  const f64 square = 0.5 * (1.0 - x);
  const f64 root = guf::sqrt(square);
  const f64 low = square > 0.0 ? residual(square, root, root) / (root + root) : 0.0;
  return {root, low};
}

GUF_FN f64 asin_any(f64 x) {
  const f64 size = magnitude(x);
  const bool near_one = size > 0.5;
  const arc_root chord = half_chord(size);
  const f64 s = near_one ? chord.root : size;
  const f64 rest = asin_rest(s, near_one ? chord.low : 0.0);
  const pair<f64> most = fast_two_sum(kHalfPi, -2.0 * s);
  const f64 far = most.hi + (most.lo + mad(-2.0, rest, kHalfPiLow));
  const f64 result = near_one ? far : s + rest;
  // The result is NaN for |x| > 1, because sqrt then returns NaN.
  return size < 0x1p-28 ? x : flip_sign(result, sign_bit(x));
}

GUF_FN f64 acos_any(f64 x) {
  const f64 size = magnitude(x);
  const bool near_one = size > 0.5;
  const arc_root chord = half_chord(size);
  const f64 s = near_one ? chord.root : x;
  const f64 rest = asin_rest(s, near_one ? chord.low : 0.0);
  // x in the middle range: pi/2 - asin x; near 1: 2 asin(root); near -1: pi - 2 asin(root).
  const bool right = near_one && x > 0.0;
  const f64 base = right ? 0.0 : (near_one ? 2.0 * kHalfPi : kHalfPi);
  const f64 base_low = right ? 0.0 : (near_one ? 2.0 * kHalfPiLow : kHalfPiLow);
  const f64 factor = right ? 2.0 : (near_one ? -2.0 : -1.0);
  const pair<f64> most = fast_two_sum(base, factor * s);
  return most.hi + (most.lo + mad(factor, rest, base_low));
}

GUF_FN f64 hypot_any(f64 x, f64 y) {
  const f64 inf = limits<f64>::infinity;
  const f64 size_x = magnitude(x), size_y = magnitude(y);
  const scaled_two s = scale_to_one(size_x, size_y);
  const f64 result = hypot_pair(s.x, s.y).hi * power_of(s.biased);
  const f64 finite = x != x || y != y ? x + y : result;
  return size_x == inf || size_y == inf ? inf : finite;
}

}  // namespace detail

GUF_FN f64 atan(f64 x) {
  return detail::atan_any(x);
}
GUF_FN f64 asin(f64 x) {
  return detail::asin_any(x);
}
GUF_FN f64 acos(f64 x) {
  return detail::acos_any(x);
}
GUF_FN f64 atan2(f64 y, f64 x) {
  return detail::atan2_any(y, x);
}
GUF_FN f64 hypot(f64 x, f64 y) {
  return detail::hypot_any(x, y);
}
GUF_FN f32 atan(f32 x) {
  return (f32)atan((f64)x);
}
GUF_FN f32 asin(f32 x) {
  return (f32)asin((f64)x);
}
GUF_FN f32 acos(f32 x) {
  return (f32)acos((f64)x);
}
GUF_FN f32 atan2(f32 y, f32 x) {
  return (f32)atan2((f64)y, (f64)x);
}
// Squares of f32 are exact in f64, and their sum neither overflows nor underflows there.
GUF_FN f32 hypot(f32 x, f32 y) {
  const f64 sum = (f64)x * (f64)x + (f64)y * (f64)y;
  const bool infinite = fabs(x) == limits<f32>::infinity || fabs(y) == limits<f32>::infinity;
  return infinite ? limits<f32>::infinity : (f32)sqrt(sum);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_ARC_HPP
