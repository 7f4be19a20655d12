// SPDX-License-Identifier: Apache-2.0
// Remainders, exact for all numbers: C's fmod and IEEE remainder, and Python's % and // (with the
// sign of the divisor) based on them.
#ifndef GUFUNC_KERNEL_MATH_MODULO_HPP
#define GUFUNC_KERNEL_MATH_MODULO_HPP

#include "math_integer.hpp"
#include "math_parts.hpp"

namespace guf {
namespace detail {

// a modulo b for finite a >= 0, b > 0. Each iteration subtracts q b 2^k from a, where q is an
// integer with three binary digits fewer than the type. Rounding can make q at most one too large.
// The difference has no more digits than b, so it is exact. There is one iteration if a / b is
// below 2^50 for f64, 2^21 for f32.
template <class T>
GUF_FN T modulo_positive(T a, T b) {
  constexpr i32 digits = bits_of<T>::mantissa - 2;
  // Without fused multiply-add, intermediate products of f64 near the largest number overflow.
  constexpr T edge = sizeof(T) == 8 ? T(0x1p900) : limits<T>::infinity;
  const i32 exponent = normalize(b).exponent;
  T rest = a;
  while (rest >= b) {
    const i32 gap = normalize(rest).exponent - exponent;
    const T unit = gap > digits ? guf::ldexp(b, gap - (digits - 1)) : b;
    const T quotient = guf::trunc(rest / unit);
    const bool large = rest > edge;
    const T down = large ? T(0x1p-100) : T(1), up = large ? T(0x1p100) : T(1);
    const T next = residual(rest * down, quotient, unit * down);
    rest = (next < T(0) ? next + unit * down : next) * up;
  }
  return rest;
}

// |x| modulo |y|, rounded to the nearest quotient, ties to even.
template <class T>
GUF_FN T nearest_modulo(T size_x, T size_y) {
  T rest = size_y <= T(0.5) * limits<T>::max ? modulo_positive(size_x, size_y + size_y) : size_x;
  // rest is in [0, 2 y): subtracts 0, y or 2 y; each difference is exact.
  if (rest + rest > size_y) {
    rest -= size_y;
    rest = rest + rest >= size_y ? rest - size_y : rest;
  }
  return rest;
}

template <bool Nearest, class T>
GUF_FN T modulo_any(T x, T y) {
  const T size_x = magnitude(x), size_y = magnitude(y);
  if (!(size_x < limits<T>::infinity) || !(size_y > T(0))) {
    return x != x || y != y ? x + y : limits<T>::nan;
  }
  if (size_y == limits<T>::infinity) return x;
  const T rest = Nearest ? nearest_modulo(size_x, size_y) : modulo_positive(size_x, size_y);
  return flip_sign(rest, sign_bit(x));
}

}  // namespace detail

GUF_HEAVY f32 fmod(f32 x, f32 y) {
  return detail::modulo_any<false>(x, y);
}
GUF_HEAVY f64 fmod(f64 x, f64 y) {
  return detail::modulo_any<false>(x, y);
}
GUF_HEAVY f32 remainder(f32 x, f32 y) {
  return detail::modulo_any<true>(x, y);
}
GUF_HEAVY f64 remainder(f64 x, f64 y) {
  return detail::modulo_any<true>(x, y);
}

// floor(x / y) and x - y floor(x / y) together, as in Python and NumPy: for f32 and f64, and for
// integers as in math_integer.hpp.
template <class T>
struct divmod_result {
  T quotient, remainder;
};

namespace detail {

// `rest` is fmod(x, y).
template <class T>
GUF_FN divmod_result<T> float_floor_divmod(T x, T y, T rest) {
  static_assert(is_float<T>::value, "floor_divmod accepts f32, f64 or integers");
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
    return detail::float_floor_divmod(x, y, guf::fmod(x, y));
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
// A function that is not inlined returns one number, because NVIDIA's code would return two numbers
// through a stack.
GUF_HEAVY f32 floor_divide(f32 x, f32 y) {
  return detail::float_floor_divmod(x, y, detail::modulo_any<false>(x, y)).quotient;
}
GUF_HEAVY f64 floor_divide(f64 x, f64 y) {
  return detail::float_floor_divmod(x, y, detail::modulo_any<false>(x, y)).quotient;
}
GUF_HEAVY f32 floor_modulo(f32 x, f32 y) {
  return detail::float_floor_divmod(x, y, detail::modulo_any<false>(x, y)).remainder;
}
GUF_HEAVY f64 floor_modulo(f64 x, f64 y) {
  return detail::float_floor_divmod(x, y, detail::modulo_any<false>(x, y)).remainder;
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_MODULO_HPP
