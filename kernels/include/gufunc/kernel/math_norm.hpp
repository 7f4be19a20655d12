// SPDX-License-Identifier: Apache-2.0
// Absolute values of complex numbers without overflow, underflow or loss of digits: both parts are
// scaled near 1 by one power of two, and sqrt(x^2 + y^2) is a sum of two numbers. Used on
// host and device.
#ifndef GUFUNC_KERNEL_MATH_NORM_HPP
#define GUFUNC_KERNEL_MATH_NORM_HPP

#include "math_bits.hpp"
#if defined(GUF_HOST)
#include "math_log.hpp"
#include "math_round.hpp"
#else
#include "math_device.hpp"
#endif

namespace guf {
namespace detail {

// Two numbers divided by 2^k. k is even, and the larger quotient, x or y, is in [1/2, 2) unless it
// is zero or not finite. `biased` is 1023 + k.
struct scaled_two {
  f64 x, y;
  u64 biased;
};
GUF_FN scaled_two scale_to_one(f64 x, f64 y) {
  const f64 larger = x > y ? x : y;
  const u64 exponent = to_bits(larger) >> 52;
  const u64 above = exponent < 4u ? u64(4) : exponent;
  const u64 inside = (above > 2042u ? u64(2042) : above) | 1u;
  const f64 down = from_bits<f64>((2046u - inside) << 52);
  return {x * down, y * down, inside};
}
GUF_FN f64 power_of(u64 biased) {
  return from_bits<f64>(biased << 52);
}

// x^2 + y^2 as a sum of two numbers.
GUF_FN pair<f64> square_norm(f64 x, f64 y) {
  const pair<f64> xx = two_product(x, x), yy = two_product(y, y);
  const pair<f64> sum = two_sum(xx.hi, yy.hi);
  return fast_two_sum(sum.hi, sum.lo + (xx.lo + yy.lo));
}

// sqrt(x^2 + y^2), for numbers near 1 or both 0.
GUF_FN pair<f64> hypot_pair(f64 x, f64 y) {
  const pair<f64> sum = square_norm(x, y);
  const f64 root = guf::sqrt(sum.hi);
  const f64 rest = (residual(sum.hi, root, root) + sum.lo) / (root + root);
  return fast_two_sum(root, sum.hi > 0.0 ? rest : 0.0);
}

#if !defined(GUF_HOST)
// log(2^k (hi + lo)), accurate for a small logarithm if 2^k hi is near 1.
GUF_FN f64 log_of_sum(f64 hi, f64 lo, f64 k) {
  const i32 power = (i32)k;
  const f64 scaled = guf::ldexp(hi, power);
  if (scaled > 0.5 && scaled < 2.0) return guf::log1p((scaled - 1.0) + guf::ldexp(lo, power));
  return guf::log(hi) + k * 0x1.62e42fefa39efp-1;
}
#endif

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_NORM_HPP
