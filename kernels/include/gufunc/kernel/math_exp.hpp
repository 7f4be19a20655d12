// SPDX-License-Identifier: Apache-2.0
// exp. x = n ln2 + r, |r| <= ln2/2. exp(r) is a polynomial, which is multiplied by 2^n in two steps
// so that subnormal results round only once.
#ifndef GUFUNC_KERNEL_MATH_EXP_HPP
#define GUFUNC_KERNEL_MATH_EXP_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"

namespace guf {
namespace detail {

template <class T>
struct exp_constants;
template <>
struct exp_constants<f32> {
  static constexpr f32 low = -120.0f, high = 100.0f;  // beyond them the result is 0 or infinity
  static constexpr f32 log2_e = 0x1.715476p+0f;
  // ln2 with enough zero bits at the end that n * ln2_hi is exact.
  static constexpr f32 ln2_hi = 0x1.62ep-1f, ln2_lo = 0x1.0bfbe8p-15f;
};
template <>
struct exp_constants<f64> {
  static constexpr f64 low = -760.0, high = 720.0;
  static constexpr f64 log2_e = 0x1.71547652b82fep+0;
  static constexpr f64 ln2_hi = 0x1.62e42fefa38p-1, ln2_lo = 0x1.ef35793c7673p-45;
};

GUF_FN f32 exp_tail(f32 r) {
  return polynomial(r, kExp32);
}
GUF_FN f64 exp_tail(f64 r) {
  return polynomial(r, kExp64);
}

// exp(r + tail) for |r| <= ln2/2 and a tail below an ulp of r.
template <class T>
GUF_FN T exp_reduced(T r, T tail) {
  const pair<T> sum = fast_two_sum(T(1), r);
  return sum.hi + (sum.lo + mad(r * r, exp_tail(r), tail));
}

// exp(x + tail) for |tail| below an ulp of x, as 2^n (hi + lo); n is in the low bits of `rounded`.
// exp_pair_inside requires that x is between the limits low and high of exp_constants, or NaN.
template <class T>
struct scaled_pair {
  pair<T> value;
  T rounded;
};
template <class T>
GUF_FN scaled_pair<T> exp_pair_inside(T inside, T tail) {
  typedef exp_constants<T> C;
  const T rounded = mad(inside, C::log2_e, bits_of<T>::rounder);
  const T n = rounded - bits_of<T>::rounder;
  const T most = mad(-n, C::ln2_hi, inside);  // exact
  const pair<T> r = fast_two_sum(most, mad(-n, C::ln2_lo, tail));
  const pair<T> sum = fast_two_sum(T(1), r.hi);
  return {{sum.hi, sum.lo + mad(r.hi * r.hi, exp_tail(r.hi), r.lo)}, rounded};
}
template <class T>
GUF_FN scaled_pair<T> exp_pair(T x, T tail) {
  typedef exp_constants<T> C;
  return exp_pair_inside(clamp(x, C::low, C::high), tail);
}
template <class T>
GUF_FN T exp_sum(T x, T tail) {
  const scaled_pair<T> e = exp_pair(x, tail);
  return scale_by_power(e.value.hi + e.value.lo, e.rounded);
}

template <class T>
GUF_FN T exp_any(T x) {
  typedef exp_constants<T> C;
  const T inside = clamp(x, C::low, C::high);
  const T rounded = mad(inside, C::log2_e, bits_of<T>::rounder);
  const T n = rounded - bits_of<T>::rounder;
  const T r = mad(-n, C::ln2_lo, mad(-n, C::ln2_hi, inside));
  return scale_by_power(exp_reduced(r, T(0)), rounded);
}

// 2^x: the integer part is exact; the rest times ln2 is a sum of two numbers.
GUF_FN f64 exp2_any(f64 x) {
  constexpr f64 ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
  const f64 inside = clamp(x, -1080.0, 1030.0);
  const f64 rounded = inside + bits_of<f64>::rounder;
  const f64 r = inside - (rounded - bits_of<f64>::rounder);
  const pair<f64> product = two_product(r, ln2_hi);
  const f64 tail = mad(r, ln2_lo, product.lo);
  return scale_by_power(exp_reduced(product.hi, tail), rounded);
}

// exp(x) - 1 = 2^n ((1 - 2^-n) + r + r^2 p(r)).
GUF_FN f64 expm1_any(f64 x) {
  typedef exp_constants<f64> C;
  const f64 inside = clamp(x, -50.0, C::high);
  const f64 rounded = mad(inside, C::log2_e, bits_of<f64>::rounder);
  const f64 n = rounded - bits_of<f64>::rounder;
  const f64 most = mad(-n, C::ln2_hi, inside);
  const pair<f64> r = two_sum(most, -n * C::ln2_lo);
  const u64 power = (1023u - (to_bits(rounded) & 0xfffu)) << 52;
  const pair<f64> one_less = two_sum(1.0, n > 60.0 ? 0.0 : -from_bits<f64>(power));
  // The leading terms may cancel, so the rounding error of r^2 p(r) is added too.
  const pair<f64> sum = two_sum(one_less.hi, r.hi);
  const pair<f64> p = fast_two_sum(kExpMinus1[0], r.hi * polynomial<1>(r.hi, kExpMinus1));
  const pair<f64> square = two_product(r.hi, r.hi);
  const pair<f64> product = two_product(square.hi, p.hi);
  const pair<f64> total = two_sum(sum.hi, product.hi);
  const f64 low = mad(square.hi, p.lo, mad(square.lo, p.hi, product.lo)) + mad(r.lo, r.hi, r.lo);
  const f64 rest = total.lo + (sum.lo + (one_less.lo + low));
  const f64 result = scale_by_power(total.hi + rest, rounded);
  return magnitude(x) < 0x1p-54 ? x : result;
}

// 2^x = 2^n (1 + r q(r)) with an exact r, |r| <= 1/2.
GUF_FN f32 exp2_any(f32 x) {
  const f32 inside = clamp(x, -160.0f, 130.0f);
  const f32 rounded = inside + bits_of<f32>::rounder;
  const f32 r = inside - (rounded - bits_of<f32>::rounder);
  return scale_by_power(mad(r, polynomial(r, kExp2Minus32), 1.0f), rounded);
}

// As for f64, but the products r^2 p(r) need no second number.
GUF_FN f32 expm1_any(f32 x) {
  constexpr f32 ln2_hi = 0x1.62e43p-1f, ln2_lo = -0x1.05c610p-29f;
  const f32 inside = clamp(x, -18.0f, 89.0f);
  const f32 rounded = mad(inside, exp_constants<f32>::log2_e, bits_of<f32>::rounder);
  const f32 n = rounded - bits_of<f32>::rounder;
  const f32 most = mad(-n, ln2_hi, inside);  // exact
  const f32 r = mad(-n, ln2_lo, most);
  const f32 r_low = mad(-n, ln2_lo, most - r);
  const u32 power = (to_bits(rounded) - to_bits(bits_of<f32>::rounder)) << 23;
  const f32 small = n > 60.0f ? 0.0f : from_bits<f32>(0x3f800000u - power);  // 2^-n
  const f32 one_less = 1.0f - small;
  const f32 lost = (1.0f - one_less) - small;
  const pair<f32> sum = fast_two_sum(one_less, r);
  const f32 low = sum.lo + (lost + mad(r * r, polynomial(r, kExpMinus32), r_low));
  // 2^n may exceed the range, so the last factor 2 is separate.
  const f32 result = (sum.hi + low) * from_bits<f32>(0x3f000000u + power) * 2.0f;
  return magnitude(x) < 0x1p-25f ? x : result;
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_EXP_HPP
