// SPDX-License-Identifier: Apache-2.0
// Integer division with a defined result for every divisor: division by 0 is 0, and the smallest
// integer divided by -1 wraps to itself with remainder 0. C leaves both undefined.
#ifndef GUFUNC_KERNEL_MATH_INTEGER_HPP
#define GUFUNC_KERNEL_MATH_INTEGER_HPP

#include "types.hpp"

namespace guf {
namespace detail {

// Returns the divisor, or 1 if the division instruction of the machine could trap. The caller
// divides by the returned value and then selects the defined result, without a branch.
template <class T>
GUF_FN T safe_divisor(T y) {
  if constexpr (limits<T>::is_signed) {
    return y == T(0) || y == T(-1) ? T(1) : y;
  } else {
    return y == T(0) ? T(1) : y;
  }
}

}  // namespace detail

// Rounds towards zero, like C's / and %.
template <class T>
GUF_FN T trunc_divide(T x, T y) {
  static_assert(limits<T>::is_integer, "trunc_divide accepts integers");
  const T quotient = (T)(x / detail::safe_divisor(y));
  if constexpr (limits<T>::is_signed) {
    if (y == T(-1)) return (T)(u64(0) - (u64)x);
  }
  return y == T(0) ? T(0) : quotient;
}
template <class T>
GUF_FN T trunc_modulo(T x, T y) {
  static_assert(limits<T>::is_integer, "trunc_modulo accepts integers");
  return (T)(x % detail::safe_divisor(y));  // the remainder of the division by 1 is 0
}

namespace detail {

// Rounds towards minus infinity; the remainder has the sign of y, like Python's // and %.
template <class T>
GUF_FN T integer_floor_modulo(T x, T y) {
  const T rest = trunc_modulo(x, y);
  if constexpr (limits<T>::is_signed) {
    return rest != T(0) && (rest < T(0)) != (y < T(0)) ? (T)(rest + y) : rest;
  } else {
    return rest;
  }
}
template <class T>
GUF_FN T integer_floor_divide(T x, T y) {
  const T quotient = trunc_divide(x, y);
  if constexpr (limits<T>::is_signed) {
    const bool inexact = trunc_modulo(x, y) != T(0);
    return inexact && (x < T(0)) != (y < T(0)) ? (T)(quotient - 1) : quotient;
  } else {
    return quotient;
  }
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_INTEGER_HPP
