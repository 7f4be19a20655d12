// SPDX-License-Identifier: Apache-2.0
// tgamma and lgamma, in f64. gamma(x) = exp(e) f. e is Stirling's series for an argument of at
// least 12. f is the factor that shifts the argument to 12 or more, and for x < 1/2 also contains
// the reflection pi / sin(pi x). e and f are sums of two numbers. lgamma uses separate polynomials
// near its zeros 1 and 2; near its other zeros, at negative x, its error is absolute.
#ifndef GUFUNC_KERNEL_MATH_GAMMA_HPP
#define GUFUNC_KERNEL_MATH_GAMMA_HPP

#include "math_pow.hpp"
#include "math_root.hpp"

namespace guf {
namespace detail {

GUF_FN pair<f64> log_of_pair(pair<f64> x) {
  const pair<f64> most = log_pair(split_exponent(x.hi));
  return fast_two_sum(most.hi, most.lo + x.lo / x.hi);
}

// sin(pi x), exact at the integers.
GUF_FN pair<f64> sine_of_turns(f64 x) {
  constexpr f64 pi_hi = 0x1.921fb54442d18p+1, pi_low = 0x1.1a62633145c07p-53;
  const f64 whole = nearest_integer(x);
  const f64 turn = x - whole;
  const f64 size = magnitude(turn);
  const bool steep = size <= 0.25;
  const f64 part = steep ? size : 0.5 - size;
  const pair<f64> angle = two_product(part, pi_hi);
  const f64 angle_low = mad(part, pi_low, angle.lo);
  const pair<f64> sine = sine_pair(angle.hi, angle_low);
  const pair<f64> cosine = cosine_pair(angle.hi, angle_low);
  const bool odd = nearest_integer(0.5 * whole) != 0.5 * whole;
  const bits_t<f64> sign = sign_bit(turn) ^ (odd ? bits_of<f64>::sign : bits_t<f64>(0));
  return {flip_sign(steep ? sine.hi : cosine.hi, sign),
          flip_sign(steep ? sine.lo : cosine.lo, sign)};
}

struct gamma_parts {
  pair<f64> exponent, factor;
};

// Returns e and f with gamma(x) = exp(e) f. Requires that x is not an integer below 1, and that |x|
// is between 2^-54 and 1e290.
GUF_FN gamma_parts gamma_of(f64 x) {
  const bool reflected = x < 0.5;
  pair<f64> y = choose(reflected, two_sum(1.0, -x), pair<f64>{x, 0.0});
  pair<f64> shift = {1.0, 0.0};
  for (int i = 0; i < 12; ++i) {
    const bool low = y.hi < 12.0;
    const pair<f64> longer = multiply_pairs(shift, y);
    const pair<f64> moved = two_sum(y.hi, low ? 1.0 : 0.0);
    shift.hi = low ? longer.hi : shift.hi;
    shift.lo = low ? longer.lo : shift.lo;
    y = fast_two_sum(moved.hi, moved.lo + y.lo);
  }
  // (y - 1/2) log y - y + log(2 pi)/2 + series
  const f64 inverse = 1.0 / y.hi;
  const f64 series = inverse * polynomial(inverse * inverse, kStirling64);
  const pair<f64> most = multiply_pairs(add_pairs({-0.5, 0.0}, y), log_of_pair(y));
  const pair<f64> rest = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55 + series};
  const pair<f64> sum = add_pairs(add_pairs(most, {-y.hi, -y.lo}), rest);

  const pair<f64> sine = sine_of_turns(x);
  const pair<f64> half_turn = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  const pair<f64> reflection = multiply_pairs(half_turn, shift);
  const pair<f64> one = {1.0, 0.0};
  const pair<f64> factor = divide_pair(reflected ? reflection : one, reflected ? sine : shift);
  const pair<f64> opposite = {-sum.hi, -sum.lo};
  return {reflected ? opposite : sum, factor};
}

GUF_FN f64 tgamma_any(f64 x) {
  const gamma_parts g = gamma_of(clamp(x, x - 0.0, 250.0));
  const pair<f64> e = fast_two_sum(g.exponent.hi, g.exponent.lo);
  const scaled_pair<f64> exponential = exp_pair(e.hi, magnitude(e.hi) < 760.0 ? e.lo : 0.0);
  const pair<f64> product = multiply_pairs(exponential.value, g.factor);
  const f64 ordinary = scale_by_power(product.hi + product.lo, exponential.rounded);
  const f64 zero = flip_sign(0.0, sign_bit(g.factor.hi));
  const f64 low = x < -190.0 ? zero : ordinary;
  const f64 near_zero = magnitude(x) < 0x1p-54 ? 1.0 / x : low;
  const bool pole = x < 0.0 && nearest_integer(x) == x;
  const f64 finite = pole ? limits<f64>::nan : near_zero;
  return x < limits<f64>::infinity ? finite : x;
}

// log|gamma(c + u)| about its zero c.
template <class Element, int N>
GUF_FN f64 lgamma_about(f64 u, Element (&table)[N], f64 first_low) {
  const pair<f64> p = fast_two_sum(table[0], u * polynomial<1>(u, table));
  const pair<f64> product = two_product(u, p.hi);
  return product.hi + mad(u, p.lo + first_low, product.lo);
}

GUF_FN f64 lgamma_any(f64 x) {
  const f64 inf = limits<f64>::infinity;
  const bool tiny = magnitude(x) < 0x1p-54, large = x > 1e290;
  const bool pole = x <= 0.0 && nearest_integer(x) == x;
  const gamma_parts g = gamma_of(tiny || large || pole ? 3.0 : x);
  const pair<f64> size = {magnitude(g.factor.hi), flip_sign(g.factor.lo, sign_bit(g.factor.hi))};
  const pair<f64> sum = add_pairs(g.exponent, log_of_pair(size));
  const f64 logarithm = log_any(magnitude(x));
  const f64 far = large ? x * (logarithm - 1.0) : sum.hi + sum.lo;
  f64 value = tiny ? -logarithm : far;
  value = magnitude(x - 1.0) <= 0.25 ? lgamma_about(x - 1.0, kLgammaOne64, kLgammaOne64Low) : value;
  value = magnitude(x - 2.0) <= 0.25 ? lgamma_about(x - 2.0, kLgammaTwo64, kLgammaTwo64Low) : value;
  value = pole || magnitude(x) == inf ? inf : value;
  return x != x ? x : value;
}

GUF_FN f32 tgamma_any(f32 x) {
  return (f32)tgamma_any((f64)x);
}
GUF_FN f32 lgamma_any(f32 x) {
  return (f32)lgamma_any((f64)x);
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_GAMMA_HPP
