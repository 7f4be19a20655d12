// SPDX-License-Identifier: Apache-2.0
// pow on the host: exp(y log|x|). For f64, the logarithm is a sum of two numbers; for f32, it is
// computed in f64. Then the sign of the result and the special values of C's pow are selected.
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
  const pair<f64> d = two_sum(2.0, f);
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

// x^y for x positive and finite, y finite.
GUF_FN f64 pow_positive(f64 x, f64 y) {
  const pair<f64> logarithm = log_pair(split_exponent(x));
  const pair<f64> product = two_product(y, logarithm.hi);
  const f64 low = mad(y, logarithm.lo, product.lo);
  // The low part may be NaN for huge y.
  const bool usable = magnitude(product.hi) < 1000.0 && low == low;
  return exp_sum(product.hi, usable ? low : 0.0);
}

// x^y for a normal positive x, computed in f64. x = 2^(k/2) (1 + f), where 1 + f is between 0.848
// and 1.203, and k = 0 for x near 1. The variables `logarithm` and `exponent` are twice the binary
// logarithms of x and of the result. `offset` is added to k.
GUF_FN f32 pow_normal(f32 x, f32 y, i32 offset) {
  constexpr u32 low = 0x3f599999u;  // 0.85
  constexpr f64 root_half = 0x1.6a09e667f3bcdp-1, rounder = 2.0 * bits_of<f64>::rounder;
  const u32 above = to_bits(x) - low;
  const f64 m = (f64)from_bits<f32>(to_bits(x) - (above & 0xff800000u));
  const f64 f = mad(m, (above & 0x400000u) != 0 ? root_half : 1.0, -1.0);
  const f64 k = (f64)(((i32)above >> 22) + offset);
  const f64 logarithm = mad(f, polynomial(f, kLog2Mid), k);
  const f64 exponent = clamp((f64)y * logarithm, -400.0, 400.0);
  const f64 rounded = exponent + rounder;
  const f64 r = exponent - (rounded - rounder);
  return (f32)from_bits<f64>(to_bits(polynomial(r, kExp2Mid)) + (to_bits(rounded) << 52));
}
GUF_FN f32 pow_positive(f32 x, f32 y) {
  const bool subnormal = x < limits<f32>::min_normal;
  return pow_normal(subnormal ? x * 0x1p24f : x, y, subnormal ? -48 : 0);
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
GUF_FN f32 pow_ordinary(f32 x, f32 y) {
  return pow_normal(x, y, 0);
}
GUF_FN f64 pow_ordinary(f64 x, f64 y) {
  return pow_positive(x, y);
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
