// SPDX-License-Identifier: Apache-2.0
// The hyperbolic functions and their inverses. x = n ln2 + r: sinh x = sinh(n ln2) cosh r + cosh(n
// ln2) sinh r, and similarly for cosh. Nothing cancels and the constants are exact. The inverses
// are log(1 + t), where t is a sum of two numbers. tanh and the inverses of f32 are polynomials
// near 0 and other formulas beyond.
#ifndef GUFUNC_KERNEL_MATH_HYPER_HPP
#define GUFUNC_KERNEL_MATH_HYPER_HPP

#include "math_exp.hpp"
#include "math_norm.hpp"

namespace guf {
namespace detail {

// sinh and cosh of x >= 0 as sums of two numbers, both times 2^-n; n is in the low bits of
// `rounded`.
template <class T>
struct hyperbolic {
  pair<T> sinh, cosh;
  T rounded;
};

// (cosh(r) - 1 - z/2) / z^2 and (sinh(r)/r - 1) / z, z = r^2.
GUF_FN f32 cosh_tail(f32 z) {
  return polynomial(z, kCosh32);
}
GUF_FN f64 cosh_tail(f64 z) {
  return polynomial(z, kCosh64);
}
GUF_FN f32 sinh_tail(f32 z) {
  return polynomial(z, kSinh32);
}
GUF_FN f64 sinh_tail(f64 z) {
  return polynomial(z, kSinh64);
}

template <class T>
GUF_FN hyperbolic<T> hyperbolic_of(T x) {
  typedef exp_constants<T> C;
  const T inside = x > C::high ? C::high : x;
  const T rounded = mad(inside, C::log2_e, bits_of<T>::rounder);
  const T n = rounded - bits_of<T>::rounder;
  const T most = mad(-n, C::ln2_hi, inside);
  const pair<T> r = two_sum(most, -n * C::ln2_lo);
  const T z = r.hi * r.hi;
  const T cosh_less_1 = mad(z * z, cosh_tail(z), mad(T(0.5), z, r.hi * r.lo));
  const T sinh_less_r = mad(r.hi * z, sinh_tail(z), r.lo);
  // 2^-n cosh(n ln2) and 2^-n sinh(n ln2).
  const bits_t<T> power = (bits_of<T>::bias - (to_bits(rounded) << 1)) << bits_of<T>::mantissa;
  const T small = n > T(60) ? T(0) : from_bits<T>(power);
  const T c = T(0.5) + T(0.5) * small, s = T(0.5) - T(0.5) * small;
  // The rounding errors of c and s, which affect the results around n = 27, for f32 n = 12.
  const T c_low = T(0.5) * small - (c - T(0.5)), s_low = (T(0.5) - s) - T(0.5) * small;
  const pair<T> cr = two_product(c, r.hi), sr = two_product(s, r.hi);
  const pair<T> sinh = two_sum(s, cr.hi), cosh = two_sum(c, sr.hi);
  const T sinh_rest = mad(s, cosh_less_1, mad(c, sinh_less_r, cr.lo));
  const T cosh_rest = mad(c, cosh_less_1, mad(s, sinh_less_r, sr.lo));
  const T sinh_low = sinh.lo + mad(c_low, r.hi, s_low) + sinh_rest;
  const T cosh_low = cosh.lo + mad(s_low, r.hi, c_low) + cosh_rest;
  return {fast_two_sum(sinh.hi, sinh_low), fast_two_sum(cosh.hi, cosh_low), rounded};
}

// a / b with nearly one rounding.
GUF_FN f64 divide(pair<f64> a, pair<f64> b) {
  const f64 inverse = 1.0 / b.hi;
  const f64 q = a.hi * inverse;
  return mad(inverse, mad(-q, b.lo, residual(a.hi, q, b.hi) + a.lo), q);
}

template <class T>
GUF_FN T sinh_any(T x) {
  constexpr T tiny = sizeof(T) == 8 ? T(0x1p-28) : T(0x1p-13);
  const hyperbolic<T> h = hyperbolic_of(magnitude(x));
  const T size = scale_by_power(h.sinh.hi + h.sinh.lo, h.rounded);
  return magnitude(x) < tiny ? x : flip_sign(size, sign_bit(x));
}
template <class T>
GUF_FN T cosh_any(T x) {
  const hyperbolic<T> h = hyperbolic_of(magnitude(x));
  return scale_by_power(h.cosh.hi + h.cosh.lo, h.rounded);
}
GUF_FN f64 tanh_any(f64 x) {
  const hyperbolic<f64> h = hyperbolic_of(magnitude(x));
  const f64 size = magnitude(x) > 40.0 ? 1.0 : divide(h.sinh, h.cosh);
  return magnitude(x) < 0x1p-28 ? x : flip_sign(size, sign_bit(x));
}

// A polynomial up to 0.6. Beyond, 1 - 2 / (1 + exp(2x)), where exp(2x) is a sum of two numbers.
GUF_FN f32 tanh_any(f32 x) {
  const f32 size = magnitude(x);
  const scaled_pair<f32> e = exp_pair_inside(size > 10.0f ? 20.0f : size + size, 0.0f);
  const f32 power =
      from_bits<f32>(0x3f800000u + ((to_bits(e.rounded) - to_bits(bits_of<f32>::rounder)) << 23));
  const pair<f32> growth = fast_two_sum(e.value.hi, e.value.lo);
  const pair<f32> below = fast_two_sum(growth.hi * power, 1.0f);
  const f32 below_low = mad(growth.lo, power, below.lo);
  const f32 inverse = 1.0f / below.hi;
  const f32 error = mad(-inverse, below_low, residual(1.0f, inverse, below.hi));
  const f32 quotient = inverse + inverse;
  const pair<f32> most = fast_two_sum(1.0f, -quotient);
  const f32 far = most.hi + mad(-quotient, error, most.lo);
  const f32 z = x * x;
  const f32 near = mad(size * z, polynomial(z, kTanh32), size);
  return flip_sign(size <= 0.6f ? near : far, sign_bit(x));
}

// log(x + sqrt(1 + x^2)) for x > 1/2, where the sum and the root are sums of two numbers.
GUF_FN f32 asinh_any(f32 x) {
  const f32 size = magnitude(x);
  const bool large = size > 0x1p60f;
  const f32 y = large ? 1.0f : size;
  const pair<f32> square = two_product(y, y);
  const pair<f32> above = two_sum(1.0f, square.hi);
  const f32 root = guf::sqrt(above.hi);
  const f32 root_low = (residual(above.hi, root, root) + (above.lo + square.lo)) / (root + root);
  const pair<f32> sum = fast_two_sum(root, y);
  const f32 far =
      log_of_sum(large ? size : sum.hi, large ? 0.0f : sum.lo + root_low, large ? 1.0f : 0.0f);
  const f32 z = y * y;
  const f32 near = mad(size * z, polynomial(z, kAsinh32), size);
  const f32 finite = size <= 0.5f ? near : far;
  return flip_sign(size < limits<f32>::infinity ? finite : size, sign_bit(x));
}

// log(x + sqrt(x^2 - 1)) for x > 1.5; below, sqrt(2d) (1 + d p(d)), d = x - 1.
GUF_FN f32 acosh_any(f32 x) {
  const bool large = x > 0x1p60f, near_one = x <= 1.5f;
  const f32 y = large ? 2.0f : x;
  const f32 d = y - 1.0f;
  const pair<f32> square = two_product(y, y);
  const pair<f32> less = fast_two_sum(square.hi, -1.0f);
  const f32 under = near_one ? d + d : less.hi;
  const f32 under_low = near_one ? 0.0f : less.lo + square.lo;
  const f32 root = guf::sqrt(under);
  const f32 root_low = (residual(under, root, root) + under_low) / (root + root);
  const f32 near = root + mad(root * d, polynomial(d, kAcosh32), d > 0.0f ? root_low : 0.0f);
  const pair<f32> sum = fast_two_sum(y, root);
  const f32 far =
      log_of_sum(large ? x : sum.hi, large ? 0.0f : sum.lo + root_low, large ? 1.0f : 0.0f);
  const f32 finite = near_one ? near : far;
  const f32 inside = x < 1.0f ? limits<f32>::nan : finite;
  return x < limits<f32>::infinity ? inside : x;
}

// log((1 + x) / (1 - x)) / 2 for x > 1/2, where the quotient is a sum of two numbers.
GUF_FN f32 atanh_any(f32 x) {
  const f32 size = magnitude(x);
  const pair<f32> above = fast_two_sum(1.0f, size);
  const f32 below = 1.0f - size;
  const f32 inverse = 1.0f / below;
  const f32 quotient = above.hi * inverse;
  const f32 low = inverse * (residual(above.hi, quotient, below) + above.lo);
  const f32 far = 0.5f * log_of_sum(quotient, low, 0.0f);
  const f32 z = size * size;
  const f32 near = mad(size * z, polynomial(z, kAtanh32), size);
  const f32 inside = size <= 0.5f ? near : far;
  const f32 edge = size == 1.0f ? limits<f32>::infinity : limits<f32>::nan;
  return flip_sign(size < 1.0f ? inside : edge, sign_bit(x));
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
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_HYPER_HPP
