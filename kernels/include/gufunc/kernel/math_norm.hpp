// SPDX-License-Identifier: Apache-2.0
// Arithmetic with sums of two numbers, and absolute values of complex numbers without overflow,
// underflow or loss of digits: both parts are scaled near 1 by one power of two, and
// sqrt(x^2 + y^2) is a sum of two numbers.
#ifndef GUFUNC_KERNEL_MATH_NORM_HPP
#define GUFUNC_KERNEL_MATH_NORM_HPP

#include "math_bits.hpp"
#include "math_log.hpp"
#include "math_round.hpp"

namespace guf {
namespace detail {

GUF_FN pair<f64> add_pairs(pair<f64> a, pair<f64> b) {
  const pair<f64> sum = two_sum(a.hi, b.hi);
  return fast_two_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

GUF_FN pair<f64> multiply_pairs(pair<f64> a, pair<f64> b) {
  const pair<f64> product = two_product(a.hi, b.hi);
  return fast_two_sum(product.hi, product.lo + mad(a.hi, b.lo, a.lo * b.hi));
}

template <class T>
GUF_FN pair<T> divide_pair(pair<T> a, pair<T> b) {
  const T q = a.hi / b.hi;
  const T rest = mad(-q, b.lo, residual(a.hi, q, b.hi) + a.lo) / b.hi;
  return fast_two_sum(q, rest);
}

// The square root of a.hi + a.lo, a.hi >= 0.
GUF_FN pair<f64> root_pair(pair<f64> a) {
  const f64 root = guf::sqrt(a.hi);
  const f64 rest = (residual(a.hi, root, root) + a.lo) / (root + root);
  return fast_two_sum(root, a.hi > 0.0 ? rest : 0.0);
}

// Two numbers divided by 2^k. k is even, and the larger quotient, x or y, is in [1/2, 2) unless it
// is zero or not finite. `biased` is 1023 + k.
struct scaled_two {
  f64 x, y;
  u64 biased;
};
GUF_FN scaled_two scale_to_one(f64 x, f64 y) {
  const f64 larger = x > y ? x : y;
  const u64 exponent = to_bits(larger) >> 52;
  const u64 above = exponent < 4u ? u64(4) : exponent;
  const u64 inside = (above > 2042u ? u64(2042) : above) | 1u;
  const f64 down = from_bits<f64>((2046u - inside) << 52);
  return {x * down, y * down, inside};
}
GUF_FN f64 power_of(u64 biased) {
  return from_bits<f64>(biased << 52);
}

// x^2 + y^2 as a sum of two numbers.
GUF_FN pair<f64> square_norm(f64 x, f64 y) {
  const pair<f64> xx = two_product(x, x), yy = two_product(y, y);
  const pair<f64> sum = two_sum(xx.hi, yy.hi);
  return fast_two_sum(sum.hi, sum.lo + (xx.lo + yy.lo));
}

// x and y divided by 2^k as in scaled_two, and the sum of the squares of the quotients.
struct scaled_norm {
  pair<f64> x;
  f64 y;
  pair<f64> square;
  u64 biased;
};
GUF_FN scaled_norm scaled_norm_of(pair<f64> x, f64 y) {
  const scaled_two s = scale_to_one(magnitude(x.hi), y);
  const f64 down = power_of(2046u - s.biased);
  const pair<f64> scaled = {x.hi * down, x.lo * down};
  const pair<f64> square = square_norm(scaled.hi, s.y);
  const f64 low = mad(2.0 * scaled.hi, scaled.lo, square.lo);
  return {scaled, s.y, fast_two_sum(square.hi, low), s.biased};
}

// sqrt(x^2 + y^2), for numbers near 1 or both 0.
GUF_FN pair<f64> hypot_pair(f64 x, f64 y) {
  return root_pair(square_norm(x, y));
}

// log(1 + t) + k ln2.
GUF_FN f64 log1p_pair(pair<f64> t, f64 k) {
  const pair<f64> sum = two_sum(1.0, t.hi);
  const pair<f64> one_more = fast_two_sum(sum.hi, sum.lo + t.lo);
  return log_of_sum(one_more.hi, one_more.lo, k);
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_NORM_HPP
