// SPDX-License-Identifier: Apache-2.0
// sin and cos on the host. For f64, the polynomials of sin and cos on [-pi/4, pi/4] are both
// computed, and the quadrant selects one of them. For f32, one polynomial of sin on [-pi/2, pi/2]
// is computed in f64, which is accurate enough.
#ifndef GUFUNC_KERNEL_MATH_TRIG_HPP
#define GUFUNC_KERNEL_MATH_TRIG_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"
#include "math_reduce.hpp"

namespace guf {
namespace detail {

GUF_FN f64 sin_reduced(f64 r, f64 tail, f64 z) {
  const f64 correction = mad(-0.5 * z, tail, tail);
  return r + mad(r * z, polynomial(z, kSin64), correction);
}
GUF_FN f64 cos_reduced(f64 r, f64 tail, f64 z) {
  const f64 half = 0.5 * z;
  const f64 top = 1.0 - half;
  const f64 lost = (1.0 - top) - half;
  return top + mad(z * z, polynomial(z, kCos64), mad(-r, tail, lost));
}

// The sine of the angle, or its cosine if the caller has added one to the quadrant.
GUF_FN f64 sin_of(angle a, u64 quadrant) {
  const f64 z = a.hi * a.hi;
  const f64 sine = sin_reduced(a.hi, a.lo, z);
  const f64 cosine = cos_reduced(a.hi, a.lo, z);
  return flip_sign((quadrant & 1u) != 0 ? cosine : sine, (quadrant & 2u) << 62);
}

// x = (half_turn - shift) pi + r, |r| <= pi/2, for the f32 functions. With shift 1/2, the intervals
// of pi are centred at the zeros of cos. Only the low bit of the field, half_turn modulo 2, is
// meaningful.
struct half_angle {
  f64 r;
  u64 half_turn;
};

// Reduces x with |x| <= kHuge.
GUF_FN half_angle half_reduce_small(f64 x, f64 shift) {
  constexpr f64 over_pi = 0x1.45f306dc9c883p-2, rounder = bits_of<f64>::rounder;
  const f64 rounded = shift == 0.0 ? mad(x, over_pi, rounder) : mad(x, over_pi, shift) + rounder;
  const f64 n = (rounded - rounder) - shift;
#if GUF_HAS_FMA
  constexpr f64 first = 0x1.921fb54442d18p+1, second = 0x1.1a62633145c07p-53;
  return {fused(-n, second, fused(-n, first, x)), to_bits(rounded)};
#else
  // `first` and `second` have 27 bits, so their products with n are exact.
  constexpr f64 first = 0x1.921fb54p+1, second = 0x1.10b4610p-29, third = 0x1.a62633145c06ep-57;
  return {mad(-n, third, mad(-n, second, mad(-n, first, x))), to_bits(rounded)};
#endif
}

// x >= 2^25 has 24 bits, so x = X 2^(16 row) with an integer X below 2^39. Row `row` of the table
// contains 2^(16 row) / pi minus a multiple of 2.
GUF_FN half_angle half_reduce_huge(f64 x, f64 shift) {
  const u64 row = ((to_bits(x) >> 52) - (1023u + 23u)) >> 4 & 7u;
  const f64 scaled = from_bits<f64>(to_bits(x) - (row << 56));
  const pair<f64> a = two_product(scaled, kOverPi[row]);
  const f64 low = mad(scaled, kOverPi[row + 8], a.lo);
  const f64 rounded = (a.hi + shift) + bits_of<f64>::rounder;
  const f64 n = (rounded - bits_of<f64>::rounder) - shift;
  const f64 fraction = (a.hi - n) + low + (x - x);
  return {fraction * 0x1.921fb54442d18p+1, to_bits(rounded)};
}

// Returns sin(r), negated if the number of half turns is odd.
GUF_FN f32 sin_of(half_angle a) {
  const f64 r = flip_sign(a.r, a.half_turn << 63);
  const f64 z = r * r;
  return (f32)(r * mad(z, polynomial(z, kSinMid), 1.0));
}

GUF_FN f32 sin_small(f32 x) {
  return sin_of(half_reduce_small((f64)x, 0.0));
}
GUF_FN f32 cos_small(f32 x) {
  return sin_of(half_reduce_small((f64)magnitude(x), 0.5));
}
GUF_FN f64 sin_small(f64 x) {
  const angle a = reduce_small(magnitude(x));
  return flip_sign(sin_of(a, a.quadrant), sign_bit(x));
}
GUF_FN f64 cos_small(f64 x) {
  const angle a = reduce_small(magnitude(x));
  return sin_of(a, a.quadrant + 1u);
}

}  // namespace detail

GUF_FN f64 sin(f64 x) {
  const detail::angle a = detail::reduce(detail::magnitude(x));
  return detail::flip_sign(detail::sin_of(a, a.quadrant), detail::sign_bit(x));
}
GUF_FN f64 cos(f64 x) {
  const detail::angle a = detail::reduce(detail::magnitude(x));
  return detail::sin_of(a, a.quadrant + 1u);
}
GUF_FN f32 sin(f32 x) {
  const f64 size = (f64)detail::magnitude(x);
  detail::half_angle a = detail::half_reduce_small((f64)x, 0.0);
  if (!(size <= detail::kHuge)) {
    a = detail::half_reduce_huge(size, 0.0);
    a.r = detail::flip_sign(a.r, detail::sign_bit((f64)x));
  }
  return detail::sin_of(a);
}
GUF_FN f32 cos(f32 x) {
  const f64 size = (f64)detail::magnitude(x);
  detail::half_angle a = detail::half_reduce_small(size, 0.5);
  if (!(size <= detail::kHuge)) a = detail::half_reduce_huge(size, 0.5);
  return detail::sin_of(a);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_TRIG_HPP
