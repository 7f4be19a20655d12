// SPDX-License-Identifier: Apache-2.0
// sin and cos on the host. f64: both polynomials on [-pi/4, pi/4], one is selected. f32: in f64
// arithmetic, where one polynomial of sin on [-pi/2, pi/2] is enough.
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

// sin of the angle, or cos when the quadrant was moved on by one.
GUF_FN f64 sin_of(angle a, u64 quadrant) {
  const f64 z = a.hi * a.hi;
  const f64 sine = sin_reduced(a.hi, a.lo, z);
  const f64 cosine = cos_reduced(a.hi, a.lo, z);
  return flip_sign((quadrant & 1u) != 0 ? cosine : sine, (quadrant & 2u) << 62);
}

// x = half_turn * pi + r, |r| <= pi/2, for the f32 functions; shift 1/2 puts the middles of the
// intervals where cos is 0. half_turn modulo 2 in the low bit.
struct half_angle {
  f64 r;
  u64 half_turn;
};

GUF_FN half_angle half_reduce_small(f64 x, f64 shift) {
  // The first two have 27 bits: their products with n are exact.
  constexpr f64 first = 0x1.921fb54p+1, second = 0x1.10b4610p-29, third = 0x1.a62633145c06ep-57;
  const f64 rounded = mad(x, 0x1.45f306dc9c883p-2, -shift) + bits_of<f64>::rounder;
  const f64 n = (rounded - bits_of<f64>::rounder) + shift;
  return {mad(-n, third, mad(-n, second, mad(-n, first, x))), to_bits(rounded)};
}

// x >= 2^25 with 24 bits, so x = X 2^(16 row), X whole and below 2^39: row of the table has 2^(16
// row) / pi less a multiple of 2.
GUF_FN half_angle half_reduce_huge(f64 x, f64 shift) {
  const u64 row = ((to_bits(x) >> 52) - (1023u + 23u)) >> 4 & 7u;
  const f64 scaled = from_bits<f64>(to_bits(x) - (row << 56));
  const pair<f64> a = two_product(scaled, kOverPi[row]);
  const f64 low = mad(scaled, kOverPi[row + 8], a.lo);
  const f64 rounded = (a.hi - shift) + bits_of<f64>::rounder;
  const f64 n = (rounded - bits_of<f64>::rounder) + shift;
  const f64 fraction = (a.hi - n) + low + (x - x);
  return {fraction * 0x1.921fb54442d18p+1, to_bits(rounded)};
}

GUF_FN f32 sin_from_f64(f64 x, f64 shift, u32 sign) {
  half_angle a = half_reduce_small(x, shift);
  if (!(x <= kHuge)) a = half_reduce_huge(x, shift);
  const f64 z = a.r * a.r;
  const f64 sine = mad(a.r * z, polynomial(z, kSinMid), a.r);
  return flip_sign((f32)sine, ((u32)a.half_turn << 31) ^ sign);
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
  return detail::sin_from_f64((f64)detail::magnitude(x), 0.0, detail::sign_bit(x));
}
GUF_FN f32 cos(f32 x) {
  return detail::sin_from_f64((f64)detail::magnitude(x), 0.5, detail::bits_of<f32>::sign);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_TRIG_HPP
