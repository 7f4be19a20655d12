// SPDX-License-Identifier: Apache-2.0
// erf and erfc. Near 0, erf(x)/x is approximated by a polynomial. For larger x, a polynomial
// approximates (1 + 2x) exp(x^2) erfc(x), which is nearly constant. For erf of f32, a polynomial
// approximates -log(erfc(x)) / x.
#ifndef GUFUNC_KERNEL_MATH_ERF_HPP
#define GUFUNC_KERNEL_MATH_ERF_HPP

#include "math_exp.hpp"
#include "math_hyper.hpp"

namespace guf {
namespace detail {

// erf(x) for |x| <= 0.7.
GUF_FN pair<f64> erf_near(f64 x) {
  const f64 z = x * x;
  const pair<f64> p = fast_two_sum(kErf64[0], z * polynomial<1>(z, kErf64));
  const pair<f64> product = two_product(x, p.hi);
  return fast_two_sum(product.hi, mad(x, p.lo + kErf64Low, product.lo));
}

// For f32, erf(x) = x + x w with |w| < 0.13.
GUF_FN pair<f32> erf_near(f32 x) {
  return {x, x * polynomial(x * x, kErf32)};
}

// (1 + 2x) exp(x^2) erfc(x), t = (x - 3.75) / (x + 3.75).
GUF_FN pair<f32> erfc_grown(f32 t) {
  const pair<f32> p = fast_two_sum(kErfc32[0], t * polynomial<1>(t, kErfc32));
  return {p.hi, p.lo + kErfc32Low};
}
GUF_FN pair<f64> erfc_grown(f64 t) {
  const pair<f64> p = fast_two_sum(kErfc64[0], t * polynomial<1>(t, kErfc64));
  return {p.hi, p.lo + kErfc64Low};
}

// erfc(x) for x >= 0.6.
template <class T>
GUF_FN T erfc_far(T x) {
  constexpr T end = sizeof(T) == 8 ? T(28) : T(10.2f);
  const T y = x > end ? end : x;
  const T t = (y - T(3.75)) / (y + T(3.75));
  const pair<T> below = fast_two_sum(T(2) * y, T(1));
  const pair<T> ratio = divide_pair(erfc_grown(t), below);
  const pair<T> square = two_product(y, y);
  const scaled_pair<T> e = exp_pair(-square.hi, -square.lo);
  const pair<T> product = two_product(e.value.hi, ratio.hi);
  const T low = mad(e.value.hi, ratio.lo, mad(e.value.lo, ratio.hi, product.lo));
  return scale_by_power(product.hi + low, e.rounded);
}

GUF_FN f64 erf_any(f64 x) {
  const f64 size = magnitude(x);
  const f64 far = 1.0 - erfc_far(size);
  return flip_sign(size <= 0.7 ? erf_near(size).hi : far, sign_bit(x));
}

// Beyond 0.92, 1 - exp(-q(x)); the result is 1 beyond 3.93.
GUF_FN f32 erf_any(f32 x) {
  const f32 size = magnitude(x);
  const f32 y = size > 4.0f ? 4.0f : size;
  const pair<f32> logarithm = two_product(-y, polynomial(y, kErfFar32));
  const f32 far = 1.0f - exp_sum(logarithm.hi, logarithm.lo);
  const f32 near = mad(size, polynomial(x * x, kErf32), size);
  return flip_sign(size <= 0.92f ? near : far, sign_bit(x));
}

template <class T>
GUF_FN T erfc_any(T x) {
  const T size = magnitude(x);
  const pair<T> erf = erf_near(x);
  const pair<T> less = fast_two_sum(T(1), -erf.hi);  // used for |x| <= 0.65
  const T near = less.hi + (less.lo - erf.lo);
  const T tail = erfc_far(size);
  return size <= T(0.65f) ? near : (x < T(0) ? T(2) - tail : tail);
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_ERF_HPP
