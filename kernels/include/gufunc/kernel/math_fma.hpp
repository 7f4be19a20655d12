// SPDX-License-Identifier: Apache-2.0
// a * b + c rounded once, for a host without an FMA instruction. The exact result is a sum of three
// parts. The sum of the last two parts is rounded to odd (an inexact sum has an odd last bit), and
// then the whole sum is rounded to nearest, once.
#ifndef GUFUNC_KERNEL_MATH_FMA_HPP
#define GUFUNC_KERNEL_MATH_FMA_HPP

#include "math_parts.hpp"

namespace guf {

#if GUF_HAS_FMA
GUF_FN f32 fma(f32 a, f32 b, f32 c) {
  return detail::fused(a, b, c);
}
GUF_FN f64 fma(f64 a, f64 b, f64 c) {
  return detail::fused(a, b, c);
}
#else
namespace detail {

// Rounds the sum to odd: an inexact sum with an even sum.hi moves by one unit toward sum.lo.
GUF_FN f64 to_odd(pair<f64> sum) {
  const u64 bits = to_bits(sum.hi);
  const bool away = (sum.lo > 0.0) == (sum.hi > 0.0);
  const bool inexact = sum.lo != 0.0 && sum.lo == sum.lo && (bits & 1u) == 0;
  return from_bits<f64>(inexact ? (away ? bits + 1u : bits - 1u) : bits);
}

GUF_FN f64 fma_of_parts(f64 a, f64 b, f64 c) {
  const fraction_and_exponent<f64> x = normalize(magnitude(a)), y = normalize(magnitude(b)),
                                   z = normalize(magnitude(c));
  // All terms are divided by 2^scale, which is 2^base unless c is much larger than a * b. If one of
  // c and a * b is much larger than the other, the smaller one only affects the direction of the
  // rounding, so the difference of the exponents is limited.
  const i32 base = x.exponent + y.exponent;
  const i32 gap = z.exponent - base;
  const i32 near = gap > 120 ? 120 : (gap < -170 ? -170 : gap);
  const i32 scale = gap > 120 ? z.exponent - 120 : base;
  const f64 third =
      c == 0.0 ? 0.0
               : flip_sign(z.fraction * from_bits<f64>((u64)(near + 1023) << 52), sign_bit(c));
  const pair<f64> product =
      two_product(flip_sign(x.fraction, sign_bit(a) ^ sign_bit(b)), y.fraction);
  const pair<f64> low = two_sum(third, product.lo);
  const pair<f64> high = two_sum(product.hi, low.hi);
  const f64 rest = to_odd(two_sum(low.lo, high.lo));
  const f64 nearest = high.hi + rest;
  // A subnormal result has fewer digits. A third number, whose last place equals the last place of
  // subnormals, makes the sum round at this place.
  const i32 places = -1074 - scale;
  const i32 top = 52 + (places > 900 ? 900 : places);
  const f64 rounder = flip_sign(from_bits<f64>((u64)(top + 1023) << 52), sign_bit(nearest));
  const pair<f64> coarse = two_sum(rounder, high.hi);
  const f64 short_sum = (coarse.hi + to_odd(two_sum(coarse.lo, rest))) - rounder;
  const bool subnormal = scale + normalize(magnitude(nearest)).exponent < -1022;
  const f64 result = guf::ldexp(subnormal ? short_sum : nearest, scale);
  return nearest == 0.0 ? nearest : flip_sign(magnitude(result), sign_bit(nearest));
}

GUF_FN f64 fma_any(f64 a, f64 b, f64 c) {
  const bool ordinary = a != 0.0 && b != 0.0 && guf::isfinite(a) && guf::isfinite(b);
  const f64 plain = guf::isfinite(c) || !guf::isfinite(a) || !guf::isfinite(b) ? a * b + c : c;
  return ordinary && guf::isfinite(c) ? fma_of_parts(a, b, c) : plain;
}

// The product of two f32 is exact in f64; the sum is rounded to odd there.
GUF_FN f32 fma_any(f32 a, f32 b, f32 c) {
  return (f32)to_odd(two_sum((f64)a * (f64)b, (f64)c));
}

}  // namespace detail

GUF_FN f32 fma(f32 a, f32 b, f32 c) {
  return detail::fma_any(a, b, c);
}
GUF_FN f64 fma(f64 a, f64 b, f64 c) {
  return detail::fma_any(a, b, c);
}
#endif

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_FMA_HPP
