// SPDX-License-Identifier: Apache-2.0
// exp2, expm1, log1p, log2 and log10 of complex numbers, in f64. C does not define these functions
// for complex numbers; special values are as in NumPy.
#ifndef GUFUNC_KERNEL_MATH_COMPLEX_EXP_HPP
#define GUFUNC_KERNEL_MATH_COMPLEX_EXP_HPP

#include "math_complex.hpp"

namespace guf {
namespace detail {

// The sine and cosine of hi + lo, |lo| < 2^-10.
struct sine_cosine {
  f64 sine, cosine;
};
GUF_FN sine_cosine sine_cosine_of(pair<f64> angle) {
  const f64 sine = guf::sin(angle.hi), cosine = guf::cos(angle.hi);
  const f64 square = angle.lo * angle.lo;
  const f64 sine_low = angle.lo - angle.lo * square * (1.0 / 6.0);
  const f64 one_less = square * (0.5 - square * (1.0 / 24.0));  // 1 - cos(lo)
  return {sine + (cosine * sine_low - sine * one_less),
          cosine - (sine * sine_low + cosine * one_less)};
}

// 2^x (cos(y ln2) + i sin(y ln2)). y ln2 is a sum of two numbers, which is accurate for |y| < 2^43.
GUF_FN c128 exp2_complex(c128 z) {
  constexpr f64 ln2_hi = 0x1.62e42fefa39efp-1, ln2_lo = 0x1.abc9e3b39803fp-56;
  const pair<f64> product = two_product(z.im, ln2_hi);
  const f64 low = mad(z.im, ln2_lo, product.lo);
  const bool exact = magnitude(z.im) < 0x1p43;
  const sine_cosine angle = sine_cosine_of({z.im * ln2_hi, exact ? low : 0.0});
  const bool large = z.re > 1000.0;
  const f64 size = guf::exp2(large ? z.re - 512.0 : z.re);
  return exp_of_parts(z, size, large ? 0x1p512 : 1.0, angle.cosine, angle.sine);
}

// e^x cos y - 1 = (e^x - 1) cos y - (1 - cos y), without cancellation of the leading terms near 0.
GUF_FN c128 expm1_complex(c128 z) {
  const f64 cosine = guf::cos(z.im), sine = guf::sin(z.im);
  const bool near = magnitude(z.re) < 3.0 && cosine > 0.5;
  const f64 small = guf::expm1(z.re) * cosine - sine * sine / (1.0 + cosine);
  const c128 e = exp_complex(z);
  const bool unbounded = !is_finite(z.re);
  const f64 re = unbounded && !is_finite(z.im) ? limits<f64>::nan : e.re - 1.0;
  return c128(near ? small : re, unbounded ? (z.re < 0.0 ? 0.0 : z.re) * sine : e.im);
}

// The logarithm of 1 + z. 1 + x is a sum of two numbers, so no digit of a small z is lost.
GUF_FN c128 log1p_complex(c128 z) {
  const f64 inf = limits<f64>::infinity;
  const f64 y = magnitude(z.im);
  const pair<f64> above = two_sum(1.0, z.re);
  const scaled_norm n = scaled_norm_of(above, y);
  const f64 twice_k = 2.0 * ((f64)(i32)n.biased - 1023.0);
  const f64 ordinary = 0.5 * log_of_sum(n.square.hi, n.square.lo, twice_k);
  const f64 zero = above.hi == 0.0 && y == 0.0 ? -inf : ordinary;
  const f64 nan = z.re != z.re || y != y ? z.re + y : zero;
  return c128(magnitude(z.re) == inf || y == inf ? inf : nan, guf::atan2(z.im, above.hi));
}

}  // namespace detail

GUF_FN c128 exp2(c128 z) {
  return detail::exp2_complex(z);
}
GUF_FN c128 expm1(c128 z) {
  return detail::expm1_complex(z);
}
GUF_FN c128 log1p(c128 z) {
  return detail::log1p_complex(z);
}
GUF_FN c128 log2(c128 z) {
  const c128 natural = guf::log(z);
  return c128(natural.re * 0x1.71547652b82fep+0, natural.im * 0x1.71547652b82fep+0);
}
GUF_FN c128 log10(c128 z) {
  const c128 natural = guf::log(z);
  return c128(natural.re * 0x1.bcb7b1526e50ep-2, natural.im * 0x1.bcb7b1526e50ep-2);
}
GUF_FN c64 exp2(c64 z) {
  return detail::narrow(exp2(detail::widen(z)));
}
GUF_FN c64 expm1(c64 z) {
  return detail::narrow(expm1(detail::widen(z)));
}
GUF_FN c64 log1p(c64 z) {
  return detail::narrow(log1p(detail::widen(z)));
}
GUF_FN c64 log2(c64 z) {
  return detail::narrow(log2(detail::widen(z)));
}
GUF_FN c64 log10(c64 z) {
  return detail::narrow(log10(detail::widen(z)));
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_COMPLEX_EXP_HPP
