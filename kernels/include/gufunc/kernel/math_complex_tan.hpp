// SPDX-License-Identifier: Apache-2.0
// tan and tanh of complex numbers, in f64:
//   tanh(x + iy) = (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
// No term cancels (W. Kahan, Branch Cuts for Complex Elementary Functions, 1987). All factors are
// sums of two numbers. Special values are as in Annex G of C.
#ifndef GUFUNC_KERNEL_MATH_COMPLEX_TAN_HPP
#define GUFUNC_KERNEL_MATH_COMPLEX_TAN_HPP

#include "math_complex.hpp"
#include "math_root.hpp"

namespace guf {
namespace detail {

// The factors of tanh(x + iy). `turn` is the sign bit if sine * cosine must be negated.
struct tanh_factors {
  pair<f64> sinh, cosh, sine, cosine;
  u64 turn;
};
// For 0 <= x < 25 and y >= 0.
GUF_FN tanh_factors tanh_factors_of(f64 x, f64 y) {
  const angle<f64> a = reduce(y);
  const pair<f64> sine = sine_pair(a.hi, a.lo), cosine = cosine_pair(a.hi, a.lo);
  const bool odd = (a.quadrant & 1u) != 0;
  const hyperbolic h = hyperbolic_of(x);
  const f64 power = power_of(1023u + (to_bits(h.rounded) & 0x7ffu));
  return {{h.sinh.hi * power, h.sinh.lo * power},
          {h.cosh.hi * power, h.cosh.lo * power},
          {odd ? cosine.hi : sine.hi, odd ? cosine.lo : sine.lo},
          {odd ? sine.hi : cosine.hi, odd ? sine.lo : cosine.lo},
          a.quadrant << 63};
}

GUF_FN c128 tanh_complex(c128 z) {
  const f64 x = magnitude(z.re), y = magnitude(z.im);
  const bool far = x > 22.0;  // tanh x rounds to 1
  const tanh_factors f = tanh_factors_of(far ? 22.0 : x, y);
  const pair<f64> below =
      add_pairs(multiply_pairs(f.sinh, f.sinh), multiply_pairs(f.cosine, f.cosine));
  const pair<f64> sines = multiply_pairs(f.sine, f.cosine);
  const f64 vanishing = 4.0 * sines.hi * guf::exp(-2.0 * x);
  const bool no_angle = !is_finite(y);
  f64 re = far ? 1.0 : divide_pair(multiply_pairs(f.sinh, f.cosh), below).hi;
  f64 im = flip_sign(far ? vanishing : divide_pair(sines, below).hi, f.turn);
  // Special values for an infinite real part, and for an infinite or NaN imaginary part.
  const bool infinite = x == limits<f64>::infinity;
  re = no_angle && !infinite ? (x == 0.0 ? 0.0 : limits<f64>::nan) : re;
  im = y == 0.0 || (no_angle && infinite) ? 0.0 : im;
  return c128(flip_sign(re, sign_bit(z.re)), flip_sign(im, sign_bit(z.im)));
}

}  // namespace detail

GUF_FN c128 tanh(c128 z) {
  return detail::tanh_complex(z);
}
// tan z = -i tanh(i z).
GUF_FN c128 tan(c128 z) {
  const c128 tangent = detail::tanh_complex(c128(-z.im, z.re));
  return c128(tangent.im, -tangent.re);
}
GUF_FN c64 tanh(c64 z) {
  return detail::narrow(tanh(detail::widen(z)));
}
GUF_FN c64 tan(c64 z) {
  return detail::narrow(tan(detail::widen(z)));
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_COMPLEX_TAN_HPP
