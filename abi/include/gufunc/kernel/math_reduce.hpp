// SPDX-License-Identifier: Apache-2.0
// Angles on the host: any finite f64 is brought to a quadrant and a remainder, to full relative
// accuracy. Up to 2^25 by subtracting multiples of pi/2 in three parts; beyond, the product with 2/pi
// is formed from the part of 2/pi that matters for x's exponent. Both are computed and one is
// selected: a loop over sin then still vectorises.
#ifndef GUFUNC_KERNEL_MATH_REDUCE_HPP
#define GUFUNC_KERNEL_MATH_REDUCE_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"

namespace guf {
namespace detail {

// x = quadrant * pi/2 + hi + lo, |hi| <= pi/4; quadrant modulo 4 in the two low bits.
struct angle {
  f64 hi, lo;
  u64 quadrant;
};

constexpr f64 kHuge = 0x1p25;

// For 0 <= x <= kHuge.
GUF_FN angle reduce_small(f64 x) {
  constexpr f64 first = 0x1.921fb54442d18p+0, second = 0x1.1a62633145c07p-54,
                third = -0x1.f1976b7ed8fbcp-110;
  const f64 rounded = mad(x, 0x1.45f306dc9c883p-1, bits_of<f64>::rounder);
  const f64 n = rounded - bits_of<f64>::rounder;
#if GUF_HAS_FMA
  const f64 top = fused(-n, first, x);  // exact
  const f64 top_low = 0;
#else
  const pair<f64> most = two_product(n, first);
  const f64 near = x - most.hi;  // exact
  const pair<f64> rest = two_sum(near, -most.lo);
  const f64 top = rest.hi, top_low = rest.lo;
#endif
  const pair<f64> next = two_product(n, second);
  const pair<f64> difference = two_sum(top, -next.hi);
  const f64 low = mad(-n, third, (difference.lo + top_low) - next.lo);
  const pair<f64> sum = fast_two_sum(difference.hi, low);
  return {sum.hi, sum.lo, to_bits(rounded)};
}

// x modulo 4, in [-2, 2]; exact.
GUF_FN f64 modulo_4(f64 x) { return x - 4.0 * nearest_integer(0.25 * x); }

// For x >= 2^25, finite. NaN for an infinity. x = X 2^(16 j) with X a whole number when j > 0, so whole
// multiples of 4 in 2^(16 j) 2/pi do not count and the table leaves them out.
GUF_FN angle reduce_huge(f64 x) {
  const u64 exponent = (to_bits(x) >> 52) & 0x7ffu;
  const u64 above = exponent < 1023u + 52u ? u64(0) : exponent - (1023u + 52u);
  const u64 row = above >> 4;
  const f64 scaled = from_bits<f64>(to_bits(x) - ((above & 0x3f0u) << 52));
  const pair<f64> a = two_product(scaled, kTwoOverPi[row]);
  const pair<f64> b = two_product(scaled, kTwoOverPi[row + 64]);
  const pair<f64> c = two_product(scaled, kTwoOverPi[row + 128]);
  const f64 d = scaled * kTwoOverPi[row + 192];
  // Quarter turns: a and b.hi hold whole ones, the rest is below 2^-36.
  const pair<f64> ab = two_sum(modulo_4(a.hi), modulo_4(a.lo));
  const pair<f64> abb = two_sum(ab.hi, modulo_4(b.hi));
  const f64 rounded = abb.hi + bits_of<f64>::rounder;
  const f64 fraction = abb.hi - (rounded - bits_of<f64>::rounder);
  const pair<f64> errors = two_sum(ab.lo, abb.lo);
  const pair<f64> small = two_sum(b.lo, c.hi);
  const pair<f64> low = two_sum(errors.hi, small.hi);
  const pair<f64> turn = two_sum(fraction, low.hi);
  const f64 rest = low.lo + (errors.lo + small.lo + c.lo + d) + (x - x);
  const pair<f64> t = two_sum(turn.hi, turn.lo + rest);
  constexpr f64 first = 0x1.921fb54442d18p+0, second = 0x1.1a62633145c07p-54;
  const pair<f64> product = two_product(t.hi, first);
  const f64 product_low = mad(t.hi, second, mad(t.lo, first, product.lo));
  const pair<f64> sum = fast_two_sum(product.hi, product_low);
  return {sum.hi, sum.lo, to_bits(rounded)};
}

GUF_FN angle reduce(f64 x) {
  const angle small = reduce_small(x);
  const bool is_huge = !(x <= kHuge);
  angle result = small;
  if (is_huge) result = reduce_huge(x);
  return result;
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_REDUCE_HPP
