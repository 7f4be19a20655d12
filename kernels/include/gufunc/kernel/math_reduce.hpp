// SPDX-License-Identifier: Apache-2.0
// Argument reduction: any finite f64 is split into a quadrant and a remainder, to full relative
// accuracy. Up to 2^25, the reduction subtracts multiples of pi/2, which is stored in three parts.
// Beyond 2^25, it multiplies x by the part of 2/pi that matters for the exponent of x. Both
// reductions are computed and one result is selected, so that a loop over sin vectorises.
#ifndef GUFUNC_KERNEL_MATH_REDUCE_HPP
#define GUFUNC_KERNEL_MATH_REDUCE_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"

namespace guf {
namespace detail {

// x = quadrant * pi/2 + hi + lo, |hi| <= pi/4; the quadrant modulo 4 is in the two low bits.
template <class T>
struct angle {
  T hi, lo;
  bits_t<T> quadrant;
};

constexpr f64 kHuge = 0x1p25;

// Reduces x with 0 <= x <= kHuge.
GUF_FN angle<f64> reduce_small(f64 x) {
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

// Reduces x >= 2^25; returns NaN for infinity. x = X 2^(16 row - 32) with an integer X in
// [2^52, 2^68). The table contains 2^(16 row - 32) 2/pi minus a multiple of 4, in [4, 8): the high
// part of its product with X is a multiple of 4 and is dropped.
GUF_FN angle<f64> reduce_huge(f64 x) {
  const u64 row = ((to_bits(x) >> 52) - (1023u + 20u)) >> 4 & 63u;
  const f64 scaled = from_bits<f64>(to_bits(x) - (((row << 4) - 32u) << 52));
  const f64 a = two_product(scaled, kTwoOverPi[row]).lo;
  const pair<f64> b = two_product(scaled, kTwoOverPi[row + 64]);
  const pair<f64> c = two_product(scaled, kTwoOverPi[row + 128]);
  const f64 d = scaled * kTwoOverPi[row + 192];
  // `turns` counts quarter turns. `fraction` may cancel completely, so the rounding errors of the
  // following steps are included too.
  const pair<f64> turns = two_sum(a, b.hi);
  const f64 rounded = turns.hi + bits_of<f64>::rounder;
  const f64 fraction = turns.hi - (rounded - bits_of<f64>::rounder);
  const pair<f64> small = two_sum(b.lo, c.hi);
  const pair<f64> low = two_sum(turns.lo, small.hi);
  const pair<f64> t = two_sum(fraction, low.hi);
  const f64 rest = t.lo + (low.lo + (small.lo + (c.lo + d))) + (x - x);
  constexpr f64 first = 0x1.921fb54442d18p+0, second = 0x1.1a62633145c07p-54;
  const pair<f64> product = two_product(t.hi, first);
  const f64 product_low = mad(t.hi, second, mad(rest, first, product.lo));
  const pair<f64> sum = fast_two_sum(product.hi, product_low);
  return {sum.hi, sum.lo, to_bits(rounded)};
}

GUF_FN angle<f64> reduce(f64 x) {
  const angle<f64> small = reduce_small(x);
  const bool is_huge = !(x <= kHuge);
  angle<f64> result = small;
  if (is_huge) result = reduce_huge(x);
  return result;
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_REDUCE_HPP
