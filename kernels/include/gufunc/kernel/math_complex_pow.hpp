// SPDX-License-Identifier: Apache-2.0
// The complex power. It is computed by repeated squaring for small integer exponents, and otherwise
// as exp(w log z). Both methods use unevaluated sums of two numbers, because the methods magnify
// errors: a relative error of w log z is multiplied by |w log z| in the result, and each squaring
// doubles the relative error of its operand.
#ifndef GUFUNC_KERNEL_MATH_COMPLEX_POW_HPP
#define GUFUNC_KERNEL_MATH_COMPLEX_POW_HPP

#include "math_complex.hpp"
#include "math_pow.hpp"

namespace guf {
namespace detail {

GUF_FN pair<f64> times_long(f64 a, pair<f64> b) {
  const pair<f64> product = two_product(a, b.hi);
  return fast_two_sum(product.hi, mad(a, b.lo, product.lo));
}
GUF_FN pair<f64> negative(pair<f64> a) {
  return {-a.hi, -a.lo};
}

struct long_complex {
  pair<f64> re, im;
};
GUF_FN long_complex multiply_long(long_complex a, long_complex b) {
  return {add_pairs(multiply_pairs(a.re, b.re), negative(multiply_pairs(a.im, b.im))),
          add_pairs(multiply_pairs(a.re, b.im), multiply_pairs(a.im, b.re))};
}

// z^n for n > 0. The parts of the result are not finite if an intermediate square overflows.
GUF_FN c128 pow_by_long_squares(c128 z, i32 n) {
  long_complex result = {{1.0, 0.0}, {0.0, 0.0}}, square = {{z.re, 0.0}, {z.im, 0.0}};
  for (;;) {
    if ((n & 1) != 0) result = multiply_long(result, square);
    n >>= 1;
    if (n == 0) return c128(result.re.hi, result.im.hi);
    square = multiply_long(square, square);
  }
}
GUF_FN c128 pow_by_squares(c128 z, i32 n) {
  c128 result(1.0, 0.0), square = z;
  for (; n > 0; n >>= 1) {
    if ((n & 1) != 0) result = result * square;
    square = square * square;
  }
  return result;
}

// z^n for a small integer n. Powers up to the third, and powers of infinities and NaN, are computed
// as in NumPy.
template <bool Long>
GUF_FN c128 pow_whole(c128 z, i32 n) {
  if (n == 1) return z;  // not 1 * z, which spreads infinities and NaNs
  if (n == 2) return z * z;
  const i32 size = n < 0 ? -n : n;
  c128 result;
  bool plain = true;
  if constexpr (Long) {
    if (size > 3) {
      result = pow_by_long_squares(z, size);
      plain = !is_finite(result.re) || !is_finite(result.im);
    }
  }
  if (plain) result = pow_by_squares(z, size);
  if (n < 0) return c128(1.0, 0.0) / result;
  return result;
}

// 1 for an infinity and 0 for all other numbers, with the sign of x.
GUF_FN f64 box_infinity(f64 x) {
  return copysign(magnitude(x) == limits<f64>::infinity ? 1.0 : 0.0, x);
}
GUF_FN f64 zero_if_nan(f64 x) {
  return x != x ? copysign(0.0, x) : x;
}

// C99 Annex G: the product with an infinite factor is infinite, even if the formula gives NaN.
GUF_FN c128 multiply_infinities(c128 z, c128 w) {
  const c128 plain = z * w;
  if (plain.re == plain.re || plain.im == plain.im) return plain;
  const bool left =
      magnitude(z.re) == limits<f64>::infinity || magnitude(z.im) == limits<f64>::infinity;
  if (left) z = c128(box_infinity(z.re), box_infinity(z.im));
  const bool right =
      magnitude(w.re) == limits<f64>::infinity || magnitude(w.im) == limits<f64>::infinity;
  if (right) w = c128(box_infinity(w.re), box_infinity(w.im));
  if (!left && !right) return plain;
  const c128 clean =
      c128(zero_if_nan(z.re), zero_if_nan(z.im)) * c128(zero_if_nan(w.re), zero_if_nan(w.im));
  return c128(limits<f64>::infinity * clean.re, limits<f64>::infinity * clean.im);
}

// atan(n / d) like atan_ratio, with an error of 2^-65.
GUF_FN pair<f64> atan_ratio_long(f64 n, f64 d) {
  constexpr f64 edge = 0x1.a827999fcef32p-2;  // tan(pi/8)
  const bool low = n <= edge * d, high = d <= edge * n;
  const pair<f64> top = choose(low, {n, 0.0}, choose(high, {-d, 0.0}, two_sum(n, -d)));
  const pair<f64> bottom = choose(low, {d, 0.0}, choose(high, {n, 0.0}, two_sum(n, d)));
  const f64 inverse = 1.0 / bottom.hi;
  const f64 first = top.hi * inverse;
  const f64 rest = residual(top.hi, first, bottom.hi) + top.lo;
  const pair<f64> t = fast_two_sum(first, inverse * mad(-first, bottom.lo, rest));
  const pair<f64> z = multiply_pairs(t, t);
  pair<f64> sum = multiply_pairs(z, {polynomial(z.hi, kAtanTail64), 0.0});
  sum = multiply_pairs(z, add_pairs({0x1.c71c71c71c71cp-4, 0x1.c71c71c71c71cp-58}, sum));
  sum = multiply_pairs(z, add_pairs({-0x1.2492492492492p-3, -0x1.2492492492492p-57}, sum));
  sum = multiply_pairs(z, add_pairs({0x1.999999999999ap-3, -0x1.999999999999ap-57}, sum));
  sum = multiply_pairs(z, add_pairs({-0x1.5555555555555p-2, -0x1.5555555555555p-56}, sum));
  const f64 quarters = high ? 1.0 : 0.5;
  const pair<f64> start =
      choose(low, {0.0, 0.0}, pair<f64>{quarters * kHalfPi, quarters * kHalfPiLow});
  return add_pairs(start, add_pairs(t, multiply_pairs(t, sum)));
}

// log z with an error of 2^-65, for finite nonzero z.
GUF_FN long_complex log_long(c128 z) {
  const f64 x = magnitude(z.re), y = magnitude(z.im);
  const scaled_two s = scale_to_one(x, y);
  const pair<f64> square = square_norm(s.x, s.y);
  binary_parts<f64> part = split_normal(square.hi, 0.0);
  part.k += 2.0 * ((f64)(i32)s.biased - 1023.0);
  const pair<f64> twice = add_pairs(log_pair(part), {square.lo / square.hi, 0.0});
  const bool tiny = s.y < 0x1p-500 * s.x;
  pair<f64> angle = choose(tiny, {y / x, 0.0}, atan_ratio_long(s.y, s.x));
  if (sign_bit(z.re) != 0) angle = add_pairs({2.0 * kHalfPi, 2.0 * kHalfPiLow}, negative(angle));
  if (sign_bit(z.im) != 0) angle = negative(angle);
  return {{0.5 * twice.hi, 0.5 * twice.lo}, angle};
}

// exp(e), correct to the last places for |e.im| < 2^26, where the square of e.im.lo is negligible.
GUF_FN c128 exp_long(long_complex e) {
  typedef split_growth<f64> S;
  const bool large = e.re.hi > S::edge;
  const f64 size = exp_sum(large ? e.re.hi - S::part : e.re.hi, e.re.lo);
  const f64 sine = guf::sin(e.im.hi), cosine = guf::cos(e.im.hi);
  const f64 factor = large ? S::factor : 1.0;
  const f64 im = size * mad(e.im.lo, cosine, sine) * factor;
  return c128(size * mad(-e.im.lo, sine, cosine) * factor, e.im.hi == 0.0 ? e.im.hi : im);
}

// exp(w log z).
template <bool Long>
GUF_FN c128 pow_by_log(c128 z, c128 w) {
  if (Long && is_finite(z.re) && is_finite(z.im) && is_finite(w.re) && is_finite(w.im)) {
    const long_complex l = log_long(z);
    const long_complex e = {add_pairs(times_long(w.re, l.re), times_long(-w.im, l.im)),
                            add_pairs(times_long(w.re, l.im), times_long(w.im, l.re))};
    if (magnitude(e.re.hi) < 0x1p45 && magnitude(e.im.hi) < 0x1p45) return exp_long(e);
  }
  const c128 l = log_complex(z);
  const pair<f64> a = two_product(w.re, l.re), b = two_product(w.im, l.im);
  const pair<f64> c = two_product(w.re, l.im), d = two_product(w.im, l.re);
  const f64 re = (a.hi - b.hi) + (a.lo - b.lo), im = (c.hi + d.hi) + (c.lo + d.lo);
  if (is_finite(re) && is_finite(im)) return exp_complex(c128(re, im));
  return exp_complex(multiply_infinities(w, l));
}

// z^w with NumPy's special values: z^0 is 1, and 0^w is 0 if the real part of w is positive, and
// NaN otherwise. Small integer exponents use multiplications. The result is accurate to the last
// places of c128 if Long is true, and of c64 otherwise.
template <bool Long>
GUF_FN c128 pow_complex(c128 z, c128 w) {
  if (w.re == 0.0 && w.im == 0.0) return c128(1.0, 0.0);
  if (z.re == 0.0 && z.im == 0.0) {
    const f64 value = w.re > 0.0 ? 0.0 : limits<f64>::nan;
    return c128(value, value);
  }
  if (w.im == 0.0 && magnitude(w.re) < 100.0) {
    const i32 n = (i32)w.re;
    if ((f64)n == w.re) return pow_whole<Long>(z, n);
  }
  return pow_by_log<Long>(z, w);
}

}  // namespace detail

GUF_FN c64 pow(c64 z, c64 w) {
  return detail::narrow(detail::pow_complex<false>(detail::widen(z), detail::widen(w)));
}
GUF_FN c128 pow(c128 z, c128 w) {
  return detail::pow_complex<true>(z, w);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_COMPLEX_POW_HPP
