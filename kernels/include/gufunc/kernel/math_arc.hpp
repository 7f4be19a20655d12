// SPDX-License-Identifier: Apache-2.0
// The inverse trigonometric functions and hypot. For f64, atan(n/d) is computed as atan(t) plus a
// constant: t is n/d, (n - d)/(n + d) or -d/n, whichever has |t| <= tan(pi/8), and the constant is
// 0, pi/4 or pi/2. For f32, t is n/d or -d/n, with |t| <= 1. t and the constant are unevaluated
// sums of two numbers. asin and acos use a polynomial up to 1/2, and asin(x) = pi/2 - 2
// asin(sqrt((1 - x)/2)) beyond.
#ifndef GUFUNC_KERNEL_MATH_ARC_HPP
#define GUFUNC_KERNEL_MATH_ARC_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"
#include "math_norm.hpp"
#include "math_round.hpp"

namespace guf {
namespace detail {

constexpr f64 kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

template <class T>
struct half_pi;
template <>
struct half_pi<f32> {
  static constexpr f32 hi = 0x1.921fb6p+0f, lo = -0x1.777a5cp-25f;
};
template <>
struct half_pi<f64> {
  static constexpr f64 hi = kHalfPi, lo = kHalfPiLow;
};

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

GUF_FN f32 asin_tail(f32 z) {
  return polynomial(z, kAsin32);
}
GUF_FN f64 asin_tail(f64 z) {
  return polynomial(z, kAsin64);
}

// asin(s + low) - s for 0 <= s <= 1/2.
template <class T>
GUF_FN T asin_rest(T s, T low) {
  const T z = s * s;
  return mad(s * z, asin_tail(z), mad(T(0.5) * z, low, low));
}

// sqrt((1 - x)/2) for 1/2 <= x <= 1, where 1 - x is exact.
template <class T>
GUF_FN pair<T> half_chord(T x) {
  const T square = T(0.5) * (T(1) - x);
  const T root = guf::sqrt(square);
  const T low = square > T(0) ? residual(square, root, root) / (root + root) : T(0);
  return {root, low};
}

template <class T>
GUF_FN T asin_any(T x) {
  typedef half_pi<T> C;
  constexpr T tiny = sizeof(T) == 8 ? T(0x1p-28) : T(0x1p-13);
  const T size = magnitude(x);
  const bool near_one = size > T(0.5);
  const pair<T> chord = half_chord(size);
  const T s = near_one ? chord.hi : size;
  const T rest = asin_rest(s, near_one ? chord.lo : T(0));
  const pair<T> most = fast_two_sum(C::hi, T(-2) * s);
  const T far = most.hi + (most.lo + mad(T(-2), rest, C::lo));
  const T result = near_one ? far : s + rest;
  // The result is NaN for |x| > 1, because sqrt then returns NaN.
  return size < tiny ? x : flip_sign(result, sign_bit(x));
}

template <class T>
GUF_FN T acos_any(T x) {
  typedef half_pi<T> C;
  const T size = magnitude(x);
  const bool near_one = size > T(0.5);
  const pair<T> chord = half_chord(size);
  const T s = near_one ? chord.hi : x;
  const T rest = asin_rest(s, near_one ? chord.lo : T(0));
  // x in the middle range: pi/2 - asin x; near 1: 2 asin(root); near -1: pi - 2 asin(root).
  const bool right = near_one && x > T(0);
  const T base = right ? T(0) : (near_one ? T(2) * C::hi : C::hi);
  const T base_low = right ? T(0) : (near_one ? T(2) * C::lo : C::lo);
  const T factor = right ? T(2) : (near_one ? T(-2) : T(-1));
  const pair<T> most = fast_two_sum(base, factor * s);
  return most.hi + (most.lo + mad(factor, rest, base_low));
}

// atan(t + low) - t + tail for |t| <= 1. The derivative of atan is 1 / (1 + z), approximately
// 1 - z/2.
GUF_FN f32 atan_rest(f32 t, f32 low, f32 tail) {
  const pair<f32> z = two_product(t, t);
  const pair<f32> cube = two_product(t, z.hi);
  const f32 p = polynomial(z.hi, kAtan32);
  const f32 first = mad(-0.5f * z.hi, low, low + tail);
  return mad(cube.hi, p, mad(mad(t, z.lo, cube.lo), p, first));
}

// atan(|x|), or pi/2 - atan(1/|x|) beyond 1.
GUF_FN f32 atan_any(f32 x) {
  typedef half_pi<f32> C;
  const f32 size = magnitude(x) > 0x1p60f ? 0x1p60f : magnitude(x);
  const bool high = size > 1.0f;
  const f32 inverse = 1.0f / size;
  const f32 t = high ? -inverse : size;
  const f32 t_low = t * mad(-inverse, size, 1.0f);
  const f32 rest = atan_rest(t, high ? t_low : 0.0f, high ? C::lo : 0.0f);
  const pair<f32> most = fast_two_sum(high ? C::hi : 0.0f, t);
  return flip_sign(most.hi + (most.lo + rest), sign_bit(x));
}

// The bits of a power of two near x >= 0. Its inverse is normal too.
GUF_FN u32 near_exponent(f32 x) {
  const u32 exponent = to_bits(x) & bits_of<f32>::infinity;
  const u32 inside = exponent > 0x7e000000u ? 0x7e000000u : exponent;
  return inside < 0x00800000u ? 0x00800000u : inside;
}

// t is the smaller magnitude divided by the larger one, and t_low is its rounding error.
GUF_FN f32 atan2_any(f32 y, f32 x) {
  typedef half_pi<f32> C;
  const f32 inf = limits<f32>::infinity;
  const f32 size_y = magnitude(y), size_x = magnitude(x);
  const bool high = size_y > size_x, left = sign_bit(x) != 0;
  const f32 above = high ? size_x : size_y, below = high ? size_y : size_x;
  const f32 power = from_bits<f32>(0x7f000000u - near_exponent(below));
  const f32 n = above * power, d = below * power;
  const f32 ratio = above / below;
  const f32 t = below == 0.0f ? 0.0f : (above == inf ? 1.0f : ratio);
  const f32 ordinary_low = residual(n, t, d) / d;
  const f32 t_low = t > 0x1p-50f && below < inf ? ordinary_low : 0.0f;
  // The angle is base + sign t for one of the bases 0, pi/2, pi.
  const u32 sign = high == left ? 0u : bits_of<f32>::sign;
  const f32 rest = atan_rest(t, t_low, 0.0f);
  const f32 base = high ? C::hi : (left ? 2.0f * C::hi : 0.0f);
  const f32 base_low = high ? C::lo : (left ? 2.0f * C::lo : 0.0f);
  const pair<f32> most = fast_two_sum(base, flip_sign(t, sign));
  const f32 result = most.hi + (most.lo + (base_low + flip_sign(rest, sign)));
  return x != x || y != y ? x + y : flip_sign(result, sign_bit(y));
}

// Both numbers are scaled near 1. The rounding errors of the squares and of their sum are added
// before the square root.
GUF_FN f32 hypot_any(f32 x, f32 y) {
  const f32 inf = limits<f32>::infinity;
  const f32 size_x = magnitude(x), size_y = magnitude(y);
  const f32 larger = size_x > size_y ? size_x : size_y;
  const f32 smaller = size_x > size_y ? size_y : size_x;
  const u32 biased = near_exponent(larger);
  const f32 down = from_bits<f32>(0x7f000000u - biased);
  const f32 a = larger * down, b = smaller * down;
  const pair<f32> aa = two_product(a, a), bb = two_product(b, b);
  const pair<f32> sum = fast_two_sum(aa.hi, bb.hi);
  const f32 result = guf::sqrt(sum.hi + (sum.lo + (aa.lo + bb.lo))) * from_bits<f32>(biased);
  const f32 finite = x != x || y != y ? x + y : result;
  return size_x == inf || size_y == inf ? inf : finite;
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
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_ARC_HPP
