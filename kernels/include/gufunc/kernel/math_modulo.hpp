// SPDX-License-Identifier: Apache-2.0
// Remainders, exact for all numbers: C's fmod and IEEE remainder on the host, and Python's % and //
// (with the sign of the divisor) based on them, on host and device.
#ifndef GUFUNC_KERNEL_MATH_MODULO_HPP
#define GUFUNC_KERNEL_MATH_MODULO_HPP

#include "math_integer.hpp"
#include "math_parts.hpp"

namespace guf {

#if defined(GUF_HOST)
namespace detail {

// a modulo b for finite a >= 0, b > 0. Each iteration subtracts a whole multiple, below 2^50, of b
// times a power of two. The difference has at most the digits of b, so it is exact. There is one
// iteration if a < 2^50 b.
GUF_FN f64 modulo_positive(f64 a, f64 b) {
  const i32 exponent = normalize(b).exponent;
  f64 rest = a;
  while (rest >= b) {
    const i32 gap = normalize(rest).exponent - exponent;
    const f64 unit = gap > 50 ? guf::ldexp(b, gap - 49) : b;
    const f64 quotient = guf::trunc(rest / unit);  // may be one too large
    // Without fused multiply-add, an intermediate product near the largest number overflows.
    const bool large = rest > 0x1p900;
    const f64 down = large ? 0x1p-100 : 1.0, up = large ? 0x1p100 : 1.0;
    const f64 next = residual(rest * down, quotient, unit * down);
    rest = (next < 0.0 ? next + unit * down : next) * up;
  }
  return rest;
}

GUF_FN f64 fmod_any(f64 x, f64 y) {
  const f64 size_x = magnitude(x), size_y = magnitude(y);
  if (!(size_x < limits<f64>::infinity) || !(size_y > 0.0)) {
    return x != x || y != y ? x + y : limits<f64>::nan;
  }
  if (size_y == limits<f64>::infinity) return x;
  return flip_sign(modulo_positive(size_x, size_y), sign_bit(x));
}

// Rounds the quotient to the nearest integer, ties to even.
GUF_FN f64 remainder_any(f64 x, f64 y) {
  const f64 size_x = magnitude(x), size_y = magnitude(y);
  if (!(size_x < limits<f64>::infinity) || !(size_y > 0.0)) {
    return x != x || y != y ? x + y : limits<f64>::nan;
  }
  if (size_y == limits<f64>::infinity) return x;
  f64 rest = size_y < 0x1p1023 ? modulo_positive(size_x, 2.0 * size_y) : size_x;
  // rest is in [0, 2 y): subtracts 0, y or 2 y; each difference is exact.
  if (rest + rest > size_y) {
    rest -= size_y;
    rest = rest + rest >= size_y ? rest - size_y : rest;
  }
  return flip_sign(rest, sign_bit(x));
}

}  // namespace detail

GUF_FN f64 fmod(f64 x, f64 y) {
  return detail::fmod_any(x, y);
}
GUF_FN f64 remainder(f64 x, f64 y) {
  return detail::remainder_any(x, y);
}
GUF_FN f32 fmod(f32 x, f32 y) {
  return (f32)fmod((f64)x, (f64)y);
}
GUF_FN f32 remainder(f32 x, f32 y) {
  return (f32)remainder((f64)x, (f64)y);
}
#endif

// floor(x / y) and x - y floor(x / y) together, as in Python and NumPy: for f32 and f64, and for
// integers as in math_integer.hpp.
template <class T>
struct divmod_result {
  T quotient, remainder;
};

namespace detail {

template <class T>
GUF_FN divmod_result<T> float_floor_divmod(T x, T y) {
  static_assert(is_float<T>::value, "floor_divmod accepts f32, f64 or integers");
  T rest = fmod(x, y);
  if (y == T(0)) return {x / y, rest};
  T quotient = (x - rest) / y;
  if (rest != T(0)) {
    if ((y < T(0)) != (rest < T(0))) {
      rest += y;
      quotient -= T(1);
    }
  } else {
    rest = copysign(T(0), y);
  }
  if (quotient == T(0)) return {copysign(T(0), x / y), rest};
  const T below = floor(quotient);
  return {quotient - below > T(0.5) ? below + T(1) : below, rest};
}

}  // namespace detail

template <class T>
GUF_FN divmod_result<T> floor_divmod(T x, T y) {
  if constexpr (limits<T>::is_integer) {
    return {detail::integer_floor_divide(x, y), detail::integer_floor_modulo(x, y)};
  } else {
    return detail::float_floor_divmod(x, y);
  }
}
template <class T>
GUF_FN T floor_divide(T x, T y) {
  return floor_divmod(x, y).quotient;
}
template <class T>
GUF_FN T floor_modulo(T x, T y) {
  return floor_divmod(x, y).remainder;
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_MODULO_HPP
