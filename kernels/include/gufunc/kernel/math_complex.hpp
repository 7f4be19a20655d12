// SPDX-License-Identifier: Apache-2.0
// The complex functions, which call the real functions. Special values are as in
// Annex G of C. Functions in which terms may cancel (log, sqrt, pow) use f64 for c64 too.
#ifndef GUFUNC_KERNEL_MATH_COMPLEX_HPP
#define GUFUNC_KERNEL_MATH_COMPLEX_HPP

#include "math_functions.hpp"
#include "math_norm.hpp"

namespace guf {
namespace detail {

template <class T>
GUF_FN bool is_finite(T x) {
  return magnitude(x) < limits<T>::infinity;
}

// For x >= `edge`, exp(x) is computed as exp(x - part) times `factor`, which is exp(part). exp(x)
// alone would overflow, but its product with a sine or cosine may be in range.
template <class T>
struct split_growth;
template <>
struct split_growth<f32> {
  static constexpr f32 edge = 80.0f, part = 64.0f, factor = 0x1.425982p+92f;
};
template <>
struct split_growth<f64> {
  static constexpr f64 edge = 700.0, part = 512.0, factor = 0x1.9476504ba852ep+738;
};

// e^z or 2^z, from its absolute value size * factor and the cosine and sine of its angle.
template <class T>
GUF_FN complex<T> exp_of_parts(complex<T> z, T size, T factor, T cosine, T sine) {
  T re = size * cosine * factor, im = size * sine * factor;
  const bool real = z.im == T(0);
  re = real ? size * factor : re;
  im = real ? z.im : im;
  // Special values for an infinite real part with an infinite or NaN imaginary part.
  const bool lost = !is_finite(z.im) && magnitude(z.re) == limits<T>::infinity;
  re = lost ? (z.re > T(0) ? z.re : T(0)) : re;
  const T zero = z.im == z.im ? from_bits<T>(sign_bit(z.im)) : T(0);
  im = lost && z.re < T(0) ? zero : im;
  return complex<T>(re, im);
}

template <class T>
GUF_FN complex<T> exp_complex(complex<T> z) {
  typedef split_growth<T> S;
  const bool large = z.re > S::edge;
  // PERF The sine and cosine are computed first, because their argument reduction needs a stack on
  // a device, and fewer registers are live at this point.
  const T cosine = guf::cos(z.im), sine = guf::sin(z.im);
  const T size = guf::exp(large ? z.re - S::part : z.re);
  return exp_of_parts(z, size, large ? S::factor : T(1), cosine, sine);
}

// The factors of sin z = (sin x cosh y, cos x sinh y), and of cos z, where sine and cosine are
// swapped.
template <class T>
struct sin_cos_parts {
  T sine, cosine, cosh, sinh, factor;
};
template <class T>
GUF_FN sin_cos_parts<T> sin_cos_parts_of(complex<T> z) {
  typedef split_growth<T> S;
  const bool large = magnitude(z.im) > S::edge;
  const T inside = from_bits<T>(to_bits(magnitude(z.im) - S::part) | sign_bit(z.im));
  const T y = large ? inside : z.im;
  return {guf::sin(z.re), guf::cos(z.re), guf::cosh(y), guf::sinh(y), large ? S::factor : T(1)};
}

template <class T>
GUF_FN complex<T> sin_complex(complex<T> z) {
  const sin_cos_parts<T> part = sin_cos_parts_of(z);
  T re = part.sine * part.cosh * part.factor;
  T im = part.cosine * part.sinh * part.factor;
  re = z.re == T(0) ? z.re : re;
  const bool no_angle = !is_finite(z.re);
  im = no_angle && z.im == T(0) ? z.im : im;
  im = no_angle && magnitude(z.im) == limits<T>::infinity ? limits<T>::infinity : im;
  return complex<T>(re, im);
}

template <class T>
GUF_FN complex<T> cos_complex(complex<T> z) {
  const sin_cos_parts<T> part = sin_cos_parts_of(z);
  T re = part.cosine * part.cosh * part.factor;
  T im = -(part.sine * part.sinh * part.factor);
  const bool no_angle = !is_finite(z.re);
  const T zero = from_bits<T>(sign_bit(z.re) ^ sign_bit(z.im) ^ bits_of<T>::sign);
  im = z.re == T(0) ? (z.im == z.im ? zero : z.re) : im;
  im = z.im == T(0) && no_angle ? T(0) : im;
  re = no_angle && magnitude(z.im) == limits<T>::infinity ? limits<T>::infinity : re;
  return complex<T>(re, im);
}

GUF_FN c128 log_complex(c128 z) {
  const f64 inf = limits<f64>::infinity;
  const f64 x = magnitude(z.re), y = magnitude(z.im);
  const scaled_two s = scale_to_one(x, y);
  const pair<f64> square = square_norm(s.x, s.y);
  const f64 twice_k = 2.0 * ((f64)(i32)s.biased - 1023.0);
  const f64 ordinary = 0.5 * log_of_sum(square.hi, square.lo, twice_k);
  const f64 zero = x == 0.0 && y == 0.0 ? -inf : ordinary;
  const f64 nan = x != x || y != y ? x + y : zero;
  return c128(x == inf || y == inf ? inf : nan, guf::atan2(z.im, z.re));
}

GUF_FN c128 sqrt_complex(c128 z) {
  const f64 inf = limits<f64>::infinity;
  const f64 x = magnitude(z.re), y = magnitude(z.im);
  const scaled_two s = scale_to_one(x, y);
  const f64 mean = 0.5 * (s.x + hypot_pair(s.x, s.y).hi);
  const f64 root = guf::sqrt(mean) * power_of((s.biased + 1023u) >> 1);
  const f64 other = root == 0.0 ? 0.0 : y / (root + root);
  const bool left = z.re < 0.0;
  f64 re = left ? other : root, im = left ? root : other;
  // Special values for an infinite real part, and for an infinite imaginary part.
  const bool beyond = x == inf;
  re = beyond ? (left ? (y < inf ? 0.0 : y) : x) : re;
  im = beyond ? (left ? x : (y < inf ? 0.0 : y)) : im;
  re = y == inf ? inf : re;
  im = y == inf ? inf : im;
  return c128(re, flip_sign(magnitude(im), sign_bit(z.im)));
}

GUF_FN c128 widen(c64 z) {
  return c128((f64)z.re, (f64)z.im);
}
GUF_FN c64 narrow(c128 z) {
  return c64((f32)z.re, (f32)z.im);
}

}  // namespace detail

GUF_FN c64 exp(c64 z) {
  return detail::exp_complex(z);
}
GUF_FN c128 exp(c128 z) {
  return detail::exp_complex(z);
}
GUF_FN c64 sin(c64 z) {
  return detail::sin_complex(z);
}
GUF_FN c128 sin(c128 z) {
  return detail::sin_complex(z);
}
GUF_FN c64 cos(c64 z) {
  return detail::cos_complex(z);
}
GUF_FN c128 cos(c128 z) {
  return detail::cos_complex(z);
}
GUF_FN c64 log(c64 z) {
  return detail::narrow(detail::log_complex(detail::widen(z)));
}
GUF_FN c128 log(c128 z) {
  return detail::log_complex(z);
}
GUF_FN c64 sqrt(c64 z) {
  return detail::narrow(detail::sqrt_complex(detail::widen(z)));
}
GUF_FN c128 sqrt(c128 z) {
  return detail::sqrt_complex(z);
}
// sinh z = -i sin(i z), cosh z = cos(-i z).
template <class T>
GUF_FN complex<T> sinh(complex<T> z) {
  const complex<T> sine = guf::sin(complex<T>(-z.im, z.re));
  return complex<T>(sine.im, -sine.re);
}
template <class T>
GUF_FN complex<T> cosh(complex<T> z) {
  return guf::cos(complex<T>(z.im, -z.re));
}

template <class T>
GUF_FN T abs(complex<T> z) {
  return guf::hypot(z.re, z.im);
}
template <class T>
GUF_FN T arg(complex<T> z) {
  return guf::atan2(z.im, z.re);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_COMPLEX_HPP
