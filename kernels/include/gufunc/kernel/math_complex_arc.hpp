// SPDX-License-Identifier: Apache-2.0
// The inverse trigonometric and hyperbolic functions of complex numbers, in f64. The formulas come
// from W. Kahan, "Branch Cuts for Complex Elementary Functions", 1987. Where terms cancel, they are
// computed as unevaluated sums of two numbers. Beyond 2^60, the functions are computed from the
// leading term of their expansion at infinity. Special values are as in Annex G of C.
#ifndef GUFUNC_KERNEL_MATH_COMPLEX_ARC_HPP
#define GUFUNC_KERNEL_MATH_COMPLEX_ARC_HPP

#include "math_complex.hpp"

namespace guf {
namespace detail {

constexpr f64 kArcFar = 0x1p60;

// sqrt(2 (x + iy)) for x, y >= 0. Without the factor 2, a subnormal y would lose its last digit.
struct complex_root {
  pair<f64> re, im;
};
GUF_FN complex_root root_of_twice(pair<f64> x, f64 y) {
  const scaled_norm n = scaled_norm_of(x, y);
  const pair<f64> re = root_pair(add_pairs(root_pair(n.square), n.x));
  const pair<f64> im = divide_pair({n.y, 0.0}, re);
  const f64 power = power_of((n.biased + 1023u) >> 1);
  const bool zero = re.hi == 0.0;
  return {{re.hi * power, re.lo * power}, {zero ? 0.0 : im.hi * power, zero ? 0.0 : im.lo * power}};
}

// asin z or acos z for z in the first quadrant, or acos z for z in the second quadrant if `left` is
// true: the real part, and the magnitude of the imaginary part, which both functions share. With
// u = sqrt(1 - z) and v = sqrt(1 + z):
//   Re asin z = atan(x / Re(u v)), Re acos z = 2 atan(Re u / Re v), Im asin z = asinh(Im(u* v))
// The roots of the code are sqrt(2) u and sqrt(2) v.
struct arc_parts {
  f64 angle, height;
};
template <bool Cosine>
GUF_FN arc_parts arc_parts_of(f64 x, f64 y, bool left) {
  const f64 inf = limits<f64>::infinity;
  const bool far = x > kArcFar || y > kArcFar;
  const f64 a = far ? 1.0 : x, b = far ? 1.0 : y;
  const bool beyond = a > 1.0;
  const pair<f64> below = beyond ? two_sum(a, -1.0) : two_sum(1.0, -a);
  const complex_root root = root_of_twice(below, b), v = root_of_twice(two_sum(1.0, a), b);
  // u = sqrt(1 - a - ib). The imaginary part is negated.
  const pair<f64> u_re = {beyond ? root.im.hi : root.re.hi, beyond ? root.im.lo : root.re.lo};
  const pair<f64> u_im = {beyond ? root.re.hi : root.im.hi, beyond ? root.re.lo : root.im.lo};
  const pair<f64> twice_sinh = add_pairs(multiply_pairs(u_re, v.im), multiply_pairs(u_im, v.re));
  const pair<f64> twice_uv = add_pairs(multiply_pairs(u_re, v.re), multiply_pairs(u_im, v.im));
  // log |2z|
  const scaled_norm n = scaled_norm_of({x, 0.0}, y);
  const f64 twice_k = 2.0 * ((f64)(i32)n.biased - 1023.0);
  const f64 far_height = 0.5 * log_of_sum(n.square.hi, n.square.lo, twice_k + 2.0);
  const f64 finite =
      x != x || y != y ? x + y : (far ? far_height : guf::asinh(0.5 * twice_sinh.hi));
  const f64 height = x == inf || y == inf ? inf : finite;
  if constexpr (Cosine) {
    const f64 top = far ? y : (left ? v.re.hi : u_re.hi);
    const f64 bottom = far ? (left ? -x : x) : (left ? u_re.hi : v.re.hi);
    const f64 angle = guf::atan2(top, bottom);
    return {far ? angle : 2.0 * angle, height};
  } else {
    return {guf::atan2(x, far ? y : 0.5 * twice_uv.hi), height};
  }
}

GUF_FN c128 asin_complex(c128 z) {
  const arc_parts part = arc_parts_of<false>(magnitude(z.re), magnitude(z.im), false);
  const f64 re = z.re == 0.0 ? 0.0 : part.angle;
  return c128(flip_sign(re, sign_bit(z.re)), flip_sign(part.height, sign_bit(z.im)));
}

// The real part of acos z, and the magnitude of the imaginary part.
GUF_FN arc_parts acos_parts(c128 z) {
  const arc_parts part = arc_parts_of<true>(magnitude(z.re), magnitude(z.im), sign_bit(z.re) != 0);
  return {z.re == 0.0 ? 0x1.921fb54442d18p+0 : part.angle, part.height};
}

// atanh z = log(1 + t) / 4 + i atan2(2y, (1 - x) (1 + x) - y^2) / 2, t = 4x / ((1 - x)^2 + y^2).
// If t is large, log(1 + t) = log t.
GUF_FN c128 atanh_complex(c128 z) {
  constexpr f64 half_pi = 0x1.921fb54442d18p+0;
  const f64 inf = limits<f64>::infinity, nan = limits<f64>::nan;
  const f64 x = magnitude(z.re), y = magnitude(z.im);
  const bool far = x > kArcFar || y > kArcFar;
  const f64 a = far ? 1.0 : x, b = far ? 1.0 : y;
  const pair<f64> one_less = two_sum(1.0, -a), one_more = two_sum(1.0, a);
  const scaled_norm n = scaled_norm_of(one_less, b);
  const f64 k = (f64)(i32)n.biased - 1023.0;
  const bool pole = k < -32.0;
  const pair<f64> quotient = divide_pair({4.0 * a, 0.0}, n.square);
  const f64 power = power_of(pole ? u64(1023) : 3069u - 2u * n.biased);  // 2^(-2k)
  const pair<f64> sum = add_pairs({1.0, 0.0}, {quotient.hi * power, quotient.lo * power});
  const f64 logarithm =
      log_of_sum(pole ? quotient.hi : sum.hi, pole ? quotient.lo : sum.lo, pole ? -2.0 * k : 0.0);
  const pair<f64> square = two_product(b, b);
  const pair<f64> cosine = add_pairs(multiply_pairs(one_less, one_more), {-square.hi, -square.lo});
  f64 re = a == 1.0 && b == 0.0 ? inf : 0.25 * logarithm;
  f64 im = 0.5 * guf::atan2(2.0 * b, cosine.hi);
  // x / |z|^2
  const scaled_norm large = scaled_norm_of({x, 0.0}, y);
  re = far ? large.x.hi / large.square.hi * power_of(2046u - large.biased) : re;
  im = far ? half_pi : im;
  // Special values.
  const bool unknown = x != x || y != y, infinite = x == inf || y == inf;
  re = infinite || x == 0.0 ? 0.0 : (unknown ? nan : re);
  im = unknown && y != inf ? nan : im;
  return c128(flip_sign(re, sign_bit(z.re)), flip_sign(im, sign_bit(z.im)));
}

}  // namespace detail

GUF_FN c128 asin(c128 z) {
  return detail::asin_complex(z);
}
GUF_FN c128 acos(c128 z) {
  const detail::arc_parts part = detail::acos_parts(z);
  const u64 sign = detail::sign_bit(z.im) ^ detail::bits_of<f64>::sign;
  return c128(part.angle, detail::flip_sign(part.height, sign));
}
GUF_FN c128 atanh(c128 z) {
  return detail::atanh_complex(z);
}
// acosh z = i acos z or -i acos z, whichever has a real part that is not negative.
GUF_FN c128 acosh(c128 z) {
  const detail::arc_parts part = detail::acos_parts(z);
  return c128(part.height, detail::flip_sign(part.angle, detail::sign_bit(z.im)));
}
// asinh z = -i asin(i z), atan z = -i atanh(i z).
GUF_FN c128 asinh(c128 z) {
  const c128 arc = detail::asin_complex(c128(-z.im, z.re));
  return c128(arc.im, -arc.re);
}
GUF_FN c128 atan(c128 z) {
  const c128 arc = detail::atanh_complex(c128(-z.im, z.re));
  return c128(arc.im, -arc.re);
}
GUF_FN c64 asin(c64 z) {
  return detail::narrow(asin(detail::widen(z)));
}
GUF_FN c64 acos(c64 z) {
  return detail::narrow(acos(detail::widen(z)));
}
GUF_FN c64 atan(c64 z) {
  return detail::narrow(atan(detail::widen(z)));
}
GUF_FN c64 asinh(c64 z) {
  return detail::narrow(asinh(detail::widen(z)));
}
GUF_FN c64 acosh(c64 z) {
  return detail::narrow(acosh(detail::widen(z)));
}
GUF_FN c64 atanh(c64 z) {
  return detail::narrow(atanh(detail::widen(z)));
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_COMPLEX_ARC_HPP
