// SPDX-License-Identifier: Apache-2.0
// erf and erfc on the host, in f64. Near 0, erf(x)/x is approximated by a polynomial. For larger x,
// a polynomial approximates (1 + 2x) exp(x^2) erfc(x), which is nearly constant.
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

// erfc(x) for x >= 0.6.
GUF_FN f64 erfc_far(f64 x) {
  const f64 y = x > 28.0 ? 28.0 : x;
  const f64 t = (y - 3.75) / (y + 3.75);
  const pair<f64> p = fast_two_sum(kErfc64[0], t * polynomial<1>(t, kErfc64));
  const pair<f64> below = fast_two_sum(2.0 * y, 1.0);
  const pair<f64> ratio = divide_pair({p.hi, p.lo + kErfc64Low}, below);
  const pair<f64> square = two_product(y, y);
  const scaled_pair<f64> e = exp_pair(-square.hi, -square.lo);
  const pair<f64> product = two_product(e.value.hi, ratio.hi);
  const f64 low = mad(e.value.hi, ratio.lo, mad(e.value.lo, ratio.hi, product.lo));
  return scale_by_power(product.hi + low, e.rounded);
}

GUF_FN f64 erf_any(f64 x) {
  const f64 size = magnitude(x);
  const f64 far = 1.0 - erfc_far(size);
  return flip_sign(size <= 0.7 ? erf_near(size).hi : far, sign_bit(x));
}

GUF_FN f64 erfc_any(f64 x) {
  const f64 size = magnitude(x);
  const pair<f64> erf = erf_near(x);
  const pair<f64> less = fast_two_sum(1.0, -erf.hi);
  const f64 near = less.hi + (less.lo - erf.lo);
  const f64 tail = erfc_far(size);
  return size <= 0.65 ? near : (x < 0.0 ? 2.0 - tail : tail);
}

}  // namespace detail

GUF_FN f64 erf(f64 x) {
  return detail::erf_any(x);
}
GUF_FN f64 erfc(f64 x) {
  return detail::erfc_any(x);
}
GUF_FN f32 erf(f32 x) {
  return (f32)erf((f64)x);
}
GUF_FN f32 erfc(f32 x) {
  return (f32)erfc((f64)x);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_ERF_HPP
