// SPDX-License-Identifier: Apache-2.0
// pow: exp(y log|x|) for f64 and 2^(y log2|x|) for f32, where the logarithm is a sum of two
// numbers. Then the sign of the result and the special values of C's pow are selected.
#ifndef GUFUNC_KERNEL_MATH_POW_HPP
#define GUFUNC_KERNEL_MATH_POW_HPP

#include "math_exp.hpp"
#include "math_log.hpp"

namespace guf {
namespace detail {

// log(2^k (1 + f)) with a relative error of about 2^-66.
GUF_FN pair<f64> log_pair(binary_parts<f64> part) {
  constexpr f64 third_hi = 0x1.5555555555555p-1, third_lo = 0x1.5555555555555p-55;
  constexpr f64 ln2_hi = 0x1.62e42fefa38p-1, ln2_lo = 0x1.ef35793c7673p-45;
  const f64 f = part.f;
  const pair<f64> d = fast_two_sum(2.0, f);
  const f64 inverse = 1.0 / d.hi;
  const f64 s = f * inverse;
  const f64 s_low = inverse * mad(-s, d.lo, residual(f, s, d.hi));
  // log(1 + f) = 2 s + s z q with q = 2/3 + z p
  const pair<f64> square = two_product(s, s);
  const f64 z = square.hi;
  const f64 z_low = mad(2.0 * s, s_low, square.lo);
  const pair<f64> q = fast_two_sum(third_hi, z * polynomial(z, kPow64));
  const pair<f64> u = two_product(z, q.hi);
  const f64 u_low = mad(z, q.lo + third_lo, mad(z_low, q.hi, u.lo));
  const pair<f64> v = two_product(s, u.hi);
  const f64 v_low = mad(s, u_low, mad(s_low, u.hi, v.lo));
  const pair<f64> top = fast_two_sum(part.k * ln2_hi, 2.0 * s);
  const pair<f64> sum = fast_two_sum(top.hi, v.hi);
  const f64 low = top.lo + sum.lo + mad(2.0, s_low, mad(part.k, ln2_lo, v_low));
  return fast_two_sum(sum.hi, low);
}

GUF_FN f64 pow_of_parts(binary_parts<f64> x, f64 y) {
  const pair<f64> logarithm = log_pair(x);
  const pair<f64> product = two_product(y, logarithm.hi);
  const f64 low = mad(y, logarithm.lo, product.lo);
  // The low part may be NaN for huge y.
  const bool usable = magnitude(product.hi) < 1000.0 && low == low;
  return exp_sum(product.hi, usable ? low : 0.0);
}

// log2(2^k (1 + f)) with a relative error of about 2^-34.
GUF_FN pair<f32> log2_pair(binary_parts<f32> part) {
  constexpr f32 two_hi = 0x1.715476p+1f, two_lo = 0x1.4ae0cp-25f;        // 2 / ln2
  constexpr f32 third_hi = 0x1.ec709ep-1f, third_lo = -0x1.e2fe02p-28f;  // a third of it
  const f32 f = part.f;
  const pair<f32> d = fast_two_sum(2.0f, f);
  const f32 inverse = 1.0f / d.hi;
  const f32 s = f * inverse;
  const f32 s_low = inverse * mad(-s, d.lo, residual(f, s, d.hi));
  const pair<f32> square = two_product(s, s);
  const f32 z = square.hi;
  const f32 z_low = mad(s + s, s_low, square.lo);
  // log2(1 + f) = s w with w = 2/ln2 + z q and q = 2/(3 ln2) + z p.
  const f32 p = polynomial(z, kPow32);
  const f32 q = mad(z, p, third_hi);
  const f32 q_low = mad(z, p, third_hi - q) + third_lo;
  const pair<f32> u = two_product(z, q);
  const f32 u_low = mad(z, q_low, mad(z_low, q, u.lo));
  const pair<f32> w = fast_two_sum(two_hi, u.hi);
  const f32 w_low = w.lo + (u_low + two_lo);
  const pair<f32> v = two_product(s, w.hi);
  const f32 v_low = mad(s, w_low, mad(s_low, w.hi, v.lo));
  const pair<f32> sum = fast_two_sum(part.k, v.hi);
  return {sum.hi, sum.lo + v_low};
}

GUF_FN f32 pow_of_parts(binary_parts<f32> x, f32 y) {
  const pair<f32> logarithm = log2_pair(x);
  const pair<f32> product = two_product(y, logarithm.hi);
  const f32 inside = clamp(product.hi, -160.0f, 130.0f);
  // The low part may be infinite or NaN for huge y.
  const f32 low = inside == product.hi ? mad(y, logarithm.lo, product.lo) : 0.0f;
  const f32 rounded = inside + bits_of<f32>::rounder;
  const f32 r = (inside - (rounded - bits_of<f32>::rounder)) + low;
  return scale_by_power(mad(r, polynomial(r, kExp2Minus32), 1.0f), rounded);
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
  const T half_y = T(0.5) * y;
  const bool whole = nearest_integer(y) == y;
  const bool odd = whole && nearest_integer(half_y) != half_y && magnitude(y) < inf;
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
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_POW_HPP
