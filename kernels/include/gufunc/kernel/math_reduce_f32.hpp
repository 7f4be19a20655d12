// SPDX-License-Identifier: Apache-2.0
// Argument reduction for f32, in f32 and integer arithmetic: x = quadrant * pi/2 + hi + lo. Up to
// 2^13, multiples of pi/2, which is stored in three parts, are subtracted. Beyond 2^13, the integer
// x 2^-k is multiplied by the bits of 2^k 2/pi that affect the fraction of the product (M. H. Payne
// and R. N. Hanek, "Radian reduction for trigonometric functions", 1983).
#ifndef GUFUNC_KERNEL_MATH_REDUCE_F32_HPP
#define GUFUNC_KERNEL_MATH_REDUCE_F32_HPP

#include "math_reduce.hpp"

namespace guf {
namespace detail {

constexpr f32 kHugeF32 = 0x1p13f;

// Reduces x with 0 <= x <= kHugeF32. |lo| is at most an ulp of hi or, near a multiple of pi/2,
// 2^-15 |hi|. The first subtraction is exact. `second` has 10 bits, so that
// n * second is exact: if the second subtraction is not exact, top - hi is.
GUF_FN angle<f32> reduce_small(f32 x) {
  constexpr f32 first = 0x1.921fb6p+0f, second = -0x1.778p-25f, third = 0x1.68c234p-39f;
  const f32 rounded = mad(x, 0x1.45f306p-1f, bits_of<f32>::rounder);
  const f32 n = rounded - bits_of<f32>::rounder;
  const f32 top = fused(-n, first, x);
  const f32 hi = fused(-n, second, top);
  const f32 lo = fused(-n, third, fused(-n, second, top - hi));
  return {hi, lo, to_bits(rounded)};
}

// Reduces x >= 2^13; returns NaN for infinity. x = X 2^(32 row - 23) with an integer X < 2^55, and
// word[k] is the integer part of 2^(32 k + 7) 2/pi modulo 2^32. The words row to row + 3 are
// selected, because a vector of table lookups takes longer.
GUF_FN angle<f32> reduce_huge(f32 x) {
  constexpr u32 word[] = {0x00000051u, 0x7cc1b727u, 0x220a94feu, 0x13abe8fau,
                          0x9a6ee06du, 0xb14acc9eu, 0x21c820ffu};
  const u32 exponent = (to_bits(x) >> 23) - 127u;
  const bool two = (exponent & 64u) != 0, one = (exponent & 32u) != 0;
  const u32 a = two ? word[2] : word[0], b = two ? word[3] : word[1], c = two ? word[4] : word[2],
            d = two ? word[5] : word[3], e = two ? word[6] : word[4];
  const u64 first_word = one ? b : a, second_word = one ? c : b, third_word = one ? d : c,
            fourth_word = one ? e : d;
  const u64 whole = (u64)((to_bits(x) & 0x7fffffu) | 0x800000u) << (exponent & 31u);
  const u64 upper = whole >> 32, lower = whole & 0xffffffffu;
  // The number of quadrants modulo 4, times 2^62.
  const u64 turns = ((lower * first_word + upper * second_word) << 32) + lower * second_word +
                    upper * third_word + (lower * third_word >> 32) + (upper * fourth_word >> 32);
  const u32 quadrant = (u32)(turns >> 61) + 1u;  // twice the number, plus 1
  // The signed distance from the nearest quadrant, times 2^64, in three parts that f32 represents.
  const u64 distance = turns << 2;
  const f32 high = (f32)((i32)(distance >> 32) >> 8) * 0x1p-24f;
  const f32 middle = (f32)(i32)(distance >> 16 & 0xffffffu) * 0x1p-48f;
  const f32 low = (f32)(i32)(distance & 0xffffu) * 0x1p-64f;
  const pair<f32> sum = fast_two_sum(high, middle);
  const f32 rest = sum.lo + low + (x - x);
  constexpr f32 first = 0x1.921fb6p+0f, second = -0x1.777a5cp-25f;
  const pair<f32> product = two_product(sum.hi, first);
  const f32 product_low = mad(sum.hi, second, mad(rest, first, product.lo));
  const pair<f32> result = fast_two_sum(product.hi, product_low);
  return {result.hi, result.lo, quadrant >> 1};
}

GUF_FN angle<f32> reduce(f32 x) {
  const angle<f32> small = reduce_small(x);
  f32 hi = small.hi, lo = small.lo;
  u32 quadrant = small.quadrant;
  if (!(x <= kHugeF32)) {
    const angle<f32> huge = reduce_huge(x);
    hi = huge.hi, lo = huge.lo, quadrant = huge.quadrant;
  }
  return {hi, lo, quadrant};
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_REDUCE_F32_HPP
