// SPDX-License-Identifier: Apache-2.0
// Python's math functions of integers. Where Python raises an exception, the result is a value: the
// largest value of the type on overflow, and 0 for a negative argument of isqrt, factorial, comb or
// perm.
#ifndef GUFUNC_KERNEL_MATH_NUMBER_HPP
#define GUFUNC_KERNEL_MATH_NUMBER_HPP

#include "types.hpp"

namespace guf {
namespace detail {

template <class T>
GUF_FN u64 unsigned_magnitude(T x) {
  static_assert(limits<T>::is_integer, "this function accepts integers");
  if constexpr (limits<T>::is_signed) {
    return x < T(0) ? u64(0) - (u64)x : (u64)x;
  } else {
    return (u64)x;
  }
}
template <class T>
GUF_FN bool is_negative(T x) {
  if constexpr (limits<T>::is_signed) {
    return x < T(0);
  } else {
    return false;
  }
}
template <class T>
GUF_FN T at_most_max(u64 x) {
  return x > (u64)limits<T>::max ? limits<T>::max : (T)x;
}
GUF_FN u64 saturating_product(u64 a, u64 b) {
  return b != 0 && a > limits<u64>::max / b ? limits<u64>::max : a * b;
}
GUF_FN u64 unsigned_gcd(u64 a, u64 b) {
  while (b != 0) {
    const u64 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

}  // namespace detail

template <class T>
GUF_FN T gcd(T x, T y) {
  return detail::at_most_max<T>(
      detail::unsigned_gcd(detail::unsigned_magnitude(x), detail::unsigned_magnitude(y)));
}
template <class T>
GUF_FN T lcm(T x, T y) {
  const u64 a = detail::unsigned_magnitude(x), b = detail::unsigned_magnitude(y);
  if (a == 0 || b == 0) return T(0);
  return detail::at_most_max<T>(detail::saturating_product(a / detail::unsigned_gcd(a, b), b));
}

// The integer square root.
template <class T>
GUF_FN T isqrt(T x) {
  if (detail::is_negative(x)) return T(0);
  u64 rest = detail::unsigned_magnitude(x), root = 0;
  for (u64 bit = u64(1) << 62; bit != 0; bit >>= 2) {
    const bool fits = rest >= root + bit;
    rest -= fits ? root + bit : 0;
    root = (root >> 1) + (fits ? bit : 0);
  }
  return (T)root;
}

// n (n - 1) ... (n - k + 1)
template <class T>
GUF_FN T perm(T n, T k) {
  if (detail::is_negative(n) || detail::is_negative(k) || k > n) return T(0);
  const u64 whole = detail::unsigned_magnitude(n), count = detail::unsigned_magnitude(k);
  u64 product = 1;
  // The product of 21 consecutive positive factors exceeds every integer type.
  for (u64 i = 0; i < count && i < 21; ++i)
    product = detail::saturating_product(product, whole - i);
  return detail::at_most_max<T>(product);
}
template <class T>
GUF_FN T factorial(T n) {
  return perm(n, n);
}

// The number of ways to choose k of n things.
template <class T>
GUF_FN T comb(T n, T k) {
  if (detail::is_negative(n) || detail::is_negative(k) || k > n) return T(0);
  const u64 whole = detail::unsigned_magnitude(n), some = detail::unsigned_magnitude(k);
  const u64 count = some < whole - some ? some : whole - some;
  u64 choices = 1;
  // Each step multiplies by (whole - count + i) / i exactly: `choices` and i are divided by their
  // common divisor, and the remaining i / common divides the factor whole - count + i.
  for (u64 i = 1; i <= count && choices < limits<u64>::max; ++i) {
    const u64 common = detail::unsigned_gcd(choices, i);
    choices = detail::saturating_product(choices / common, (whole - count + i) / (i / common));
  }
  return detail::at_most_max<T>(choices);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_NUMBER_HPP
