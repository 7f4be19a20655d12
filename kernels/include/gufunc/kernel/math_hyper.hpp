// SPDX-License-Identifier: Apache-2.0
// The hyperbolic functions and their inverses on the host, in f64.
// x = n ln2 + r: sinh x = sinh(n ln2) cosh r + cosh(n ln2) sinh r, and similarly for cosh. Nothing
// cancels and the constants are exact. The inverses are log(1 + t), where t is a sum of two
// numbers.
#ifndef GUFUNC_KERNEL_MATH_HYPER_HPP
#define GUFUNC_KERNEL_MATH_HYPER_HPP

#include "math_exp.hpp"
#include "math_norm.hpp"

namespace guf {
namespace detail {

// sinh and cosh of x >= 0 as sums of two numbers, both times 2^-n; n is in the low bits of
// `rounded`.
struct hyperbolic {
  pair<f64> sinh, cosh;
  f64 rounded;
};

GUF_FN hyperbolic hyperbolic_of(f64 x) {
  typedef exp_constants<f64> C;
  const f64 inside = x > C::high ? C::high : x;
  const f64 rounded = mad(inside, C::log2_e, bits_of<f64>::rounder);
  const f64 n = rounded - bits_of<f64>::rounder;
  const f64 most = mad(-n, C::ln2_hi, inside);
  const pair<f64> r = two_sum(most, -n * C::ln2_lo);
  const f64 z = r.hi * r.hi;
  const f64 cosh_less_1 = mad(z * z, polynomial(z, kCosh64), mad(0.5, z, r.hi * r.lo));
  const f64 sinh_less_r = mad(r.hi * z, polynomial(z, kSinh64), r.lo);
  // 2^-n cosh(n ln2) and 2^-n sinh(n ln2).
  const u64 power = (1023u - 2u * (to_bits(rounded) & 0x7ffu)) << 52;
  const f64 small = n > 60.0 ? 0.0 : from_bits<f64>(power);
  const f64 c = 0.5 + 0.5 * small, s = 0.5 - 0.5 * small;
  // The rounding error of c, which affects the results around n = 27.
  const f64 lost = (0.5 * small - (c - 0.5)) * (1.0 - r.hi);
  const pair<f64> cr = two_product(c, r.hi), sr = two_product(s, r.hi);
  const pair<f64> sinh = two_sum(s, cr.hi), cosh = two_sum(c, sr.hi);
  const f64 sinh_low = sinh.lo - lost + mad(s, cosh_less_1, mad(c, sinh_less_r, cr.lo));
  const f64 cosh_low = cosh.lo + lost + mad(c, cosh_less_1, mad(s, sinh_less_r, sr.lo));
  return {fast_two_sum(sinh.hi, sinh_low), fast_two_sum(cosh.hi, cosh_low), rounded};
}

// a / b with nearly one rounding.
GUF_FN f64 divide(pair<f64> a, pair<f64> b) {
  const f64 inverse = 1.0 / b.hi;
  const f64 q = a.hi * inverse;
  return mad(inverse, mad(-q, b.lo, residual(a.hi, q, b.hi) + a.lo), q);
}

GUF_FN f64 sinh_any(f64 x) {
  const hyperbolic h = hyperbolic_of(magnitude(x));
  const f64 size = scale_by_power(h.sinh.hi + h.sinh.lo, h.rounded);
  return magnitude(x) < 0x1p-28 ? x : flip_sign(size, sign_bit(x));
}
GUF_FN f64 cosh_any(f64 x) {
  const hyperbolic h = hyperbolic_of(magnitude(x));
  return scale_by_power(h.cosh.hi + h.cosh.lo, h.rounded);
}
GUF_FN f64 tanh_any(f64 x) {
  const hyperbolic h = hyperbolic_of(magnitude(x));
  const f64 size = magnitude(x) > 40.0 ? 1.0 : divide(h.sinh, h.cosh);
  return magnitude(x) < 0x1p-28 ? x : flip_sign(size, sign_bit(x));
}

// t = x + x^2 / (1 + sqrt(1 + x^2)). If x is so large that the 1 vanishes, asinh x = log x + ln2.
GUF_FN f64 asinh_any(f64 x) {
  const f64 size = magnitude(x);
  const bool large = size > 0x1p60;
  const f64 y = large ? 1.0 : size;
  const pair<f64> square = two_product(y, y);
  const pair<f64> above = two_sum(1.0, square.hi);
  const pair<f64> root = root_pair({above.hi, above.lo + square.lo});
  const pair<f64> below = add_pairs({1.0, 0.0}, root);
  const pair<f64> t = add_pairs({y, 0.0}, divide_pair(square, below));
  const f64 result = large ? log_of_sum(size, 0.0, 1.0) : log1p_pair(t, 0.0);
  const f64 finite = size < 0x1p-28 ? size : result;
  return flip_sign(size < limits<f64>::infinity ? finite : size, sign_bit(x));
}

// t = (x - 1) + sqrt((x - 1) (x + 1)).
GUF_FN f64 acosh_any(f64 x) {
  const bool large = x > 0x1p60;
  const f64 y = large ? 2.0 : x;
  const f64 d = y - 1.0;
  const pair<f64> square = two_product(d, d);
  const pair<f64> under = add_pairs({2.0 * d, 0.0}, square);
  const pair<f64> t = add_pairs({d, 0.0}, root_pair(under));
  const f64 result = large ? log_of_sum(x, 0.0, 1.0) : log1p_pair(t, 0.0);
  const f64 finite = x < 1.0 ? limits<f64>::nan : result;
  return x < limits<f64>::infinity ? finite : x;
}

// log(1 + 2x / (1 - x)) / 2.
GUF_FN f64 atanh_any(f64 x) {
  const f64 size = magnitude(x);
  const pair<f64> below = two_sum(1.0, -size);
  const pair<f64> t = divide_pair({2.0 * size, 0.0}, below);
  const f64 inside = size < 0x1p-28 ? size : 0.5 * log1p_pair(t, 0.0);
  const f64 edge = size == 1.0 ? limits<f64>::infinity : limits<f64>::nan;
  return flip_sign(size < 1.0 ? inside : edge, sign_bit(x));
}

}  // namespace detail

GUF_FN f64 sinh(f64 x) {
  return detail::sinh_any(x);
}
GUF_FN f64 cosh(f64 x) {
  return detail::cosh_any(x);
}
GUF_FN f64 tanh(f64 x) {
  return detail::tanh_any(x);
}
GUF_FN f64 asinh(f64 x) {
  return detail::asinh_any(x);
}
GUF_FN f64 acosh(f64 x) {
  return detail::acosh_any(x);
}
GUF_FN f64 atanh(f64 x) {
  return detail::atanh_any(x);
}
GUF_FN f32 sinh(f32 x) {
  return (f32)sinh((f64)x);
}
GUF_FN f32 cosh(f32 x) {
  return (f32)cosh((f64)x);
}
GUF_FN f32 tanh(f32 x) {
  return (f32)tanh((f64)x);
}
GUF_FN f32 asinh(f32 x) {
  return (f32)asinh((f64)x);
}
GUF_FN f32 acosh(f32 x) {
  return (f32)acosh((f64)x);
}
GUF_FN f32 atanh(f32 x) {
  return (f32)atanh((f64)x);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_HYPER_HPP
