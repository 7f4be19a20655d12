// SPDX-License-Identifier: Apache-2.0
// pow on the host: exp(y log|x|), where the logarithm is a sum of two numbers. Then the sign of the
// result and the special values of C's pow are selected.
#ifndef GUFUNC_KERNEL_MATH_POW_HPP
#define GUFUNC_KERNEL_MATH_POW_HPP

#include "math_exp.hpp"
#include "math_log.hpp"

namespace guf {
namespace detail {

template <class T>
struct pow_constants;
template <>
struct pow_constants<f32> {
  static constexpr f32 third_hi = 0x1.555556p-1f, third_lo = -0x1.555556p-26f;
  static constexpr f32 ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr f32 edge = 120.0f;
};
template <>
struct pow_constants<f64> {
  static constexpr f64 third_hi = 0x1.5555555555555p-1, third_lo = 0x1.5555555555555p-55;
  static constexpr f64 ln2_hi = 0x1.62e42fefa38p-1, ln2_lo = 0x1.ef35793c7673p-45;
  static constexpr f64 edge = 1000.0;  // |log| beyond which the result is 0 or infinity
};

GUF_FN f32 pow_tail(f32 z) {
  return polynomial(z, kPow32);
}
GUF_FN f64 pow_tail(f64 z) {
  return polynomial(z, kPow64);
}

// log(2^k (1 + f)) with a relative error of about 2^-66 for f64 and 2^-36 for f32.
template <class T>
GUF_FN pair<T> log_pair(binary_parts<T> part) {
  typedef pow_constants<T> C;
  const T f = part.f;
  const pair<T> d = fast_two_sum(T(2), f);
  const T inverse = T(1) / d.hi;
  const T s = f * inverse;
  const T s_low = inverse * mad(-s, d.lo, residual(f, s, d.hi));
  // log(1 + f) = 2 s + s z q with q = 2/3 + z p
  const pair<T> square = two_product(s, s);
  const T z = square.hi;
  const T z_low = mad(T(2) * s, s_low, square.lo);
  const pair<T> q = fast_two_sum(C::third_hi, z * pow_tail(z));
  const pair<T> u = two_product(z, q.hi);
  const T u_low = mad(z, q.lo + C::third_lo, mad(z_low, q.hi, u.lo));
  const pair<T> v = two_product(s, u.hi);
  const T v_low = mad(s, u_low, mad(s_low, u.hi, v.lo));
  const pair<T> top = fast_two_sum(part.k * C::ln2_hi, T(2) * s);
  const pair<T> sum = fast_two_sum(top.hi, v.hi);
  const T low = top.lo + sum.lo + mad(T(2), s_low, mad(part.k, C::ln2_lo, v_low));
  return fast_two_sum(sum.hi, low);
}

template <class T>
GUF_FN T pow_of_parts(binary_parts<T> x, T y) {
  const pair<T> logarithm = log_pair(x);
  const pair<T> product = two_product(y, logarithm.hi);
  const T low = mad(y, logarithm.lo, product.lo);
  // The low part may be NaN for huge y.
  const bool usable = magnitude(product.hi) < pow_constants<T>::edge && low == low;
  return exp_sum(product.hi, usable ? low : T(0));
}

// x^y for x positive and finite, y finite.
template <class T>
GUF_FN T pow_positive(T x, T y) {
  return pow_of_parts(split_exponent(x), y);
}

template <class T>
GUF_FN T pow_any(T x, T y) {
  const T inf = limits<T>::infinity;
  const T size = magnitude(x);
  // The test for odd y is also correct for large y. From 2^(mantissa + 1) on, all numbers are even
  // integers. In the binade below, all numbers are integers and y / 2 is exact.
  const T half = T(0.5) * y;
  const bool whole = nearest_integer(y) == y;
  const bool odd = whole && nearest_integer(half) != half && magnitude(y) < inf;
  const bool extreme = size == T(0) || size == inf || magnitude(y) == inf;
  const T ends = (size < T(1)) == (y < T(0)) ? inf : T(0);
  T value = extreme ? ends : pow_positive(size, y);
  value = flip_sign(value, odd ? sign_bit(x) : bits_t<T>(0));
  value = x < T(0) && size < inf && !whole ? limits<T>::nan : value;
  value = x != x || y != y ? x + y : value;
  const bool one = x == T(1) || y == T(0) || (size == T(1) && magnitude(y) == inf);
  return one ? T(1) : value;
}

// Whether pow_ordinary(x, y) is valid.
template <class T>
GUF_FN bool pow_is_ordinary(T x, T y) {
  return x >= limits<T>::min_normal && x < limits<T>::infinity &&
         magnitude(y) < limits<T>::infinity;
}
template <class T>
GUF_FN T pow_ordinary(T x, T y) {
  return pow_of_parts(split_normal(x, T(0)), y);
}

}  // namespace detail

GUF_FN f32 pow(f32 x, f32 y) {
  return detail::pow_any(x, y);
}
GUF_FN f64 pow(f64 x, f64 y) {
  return detail::pow_any(x, y);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_POW_HPP
