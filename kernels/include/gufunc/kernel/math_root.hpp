// SPDX-License-Identifier: Apache-2.0
// tan and cbrt: quotients and products of sums of two numbers, with nearly one rounding.
#ifndef GUFUNC_KERNEL_MATH_ROOT_HPP
#define GUFUNC_KERNEL_MATH_ROOT_HPP

#include "math_hyper.hpp"
#include "math_trig.hpp"

namespace guf {
namespace detail {

// sin and cos of r + tail as sums of two numbers, |r| <= pi/4.
GUF_FN pair<f64> sine_pair(f64 r, f64 tail) {
  const f64 z = r * r;
  return fast_two_sum(r, mad(r * z, polynomial(z, kSin64), mad(-0.5 * z, tail, tail)));
}
GUF_FN pair<f64> cosine_pair(f64 r, f64 tail) {
  const pair<f64> square = two_product(r, r);
  const f64 z = square.hi;
  const pair<f64> top = fast_two_sum(1.0, -0.5 * z);
  const f64 rest = mad(z * z, polynomial(z, kCos64), mad(-r, tail, -0.5 * square.lo));
  return fast_two_sum(top.hi, top.lo + rest);
}

// The tangent of x, which has been reduced to the angle.
GUF_FN f64 tan_of(f64 x, angle<f64> a) {
  const pair<f64> sine = sine_pair(a.hi, a.lo), cosine = cosine_pair(a.hi, a.lo);
  const bool odd = (a.quadrant & 1u) != 0;
  const pair<f64> above = {odd ? -cosine.hi : sine.hi, odd ? -cosine.lo : sine.lo};
  const pair<f64> below = {odd ? sine.hi : cosine.hi, odd ? sine.lo : cosine.lo};
  const f64 result = divide(above, below);
  return magnitude(x) < 0x1p-28 ? x : flip_sign(result, sign_bit(x));
}
GUF_FN f64 tan_any(f64 x) {
  return tan_of(x, reduce(magnitude(x)));
}
GUF_FN f64 tan_small(f64 x) {
  return tan_of(x, reduce_small(magnitude(x)));
}

// x = 2^(3 q + j) m, j = 0, 1, 2. y = cbrt(m) to 22 bits, then two terms of the series of (1 +
// u)^(1/3) with u = (m - y^3) / y^3. y has 24 bits, so y^2 is exact.
GUF_FN f64 cbrt_any(f64 x) {
  const f64 size = magnitude(x);
  const binary_parts<f64> part = split_exponent(size);
  const f64 y = (f64)(f32)polynomial(part.f, kCbrt64);
  const pair<f64> cube = two_product(y * y, y);
  const f64 u = (((1.0 - cube.hi) + part.f) - cube.lo) / cube.hi;
  const f64 rest = y * (u * mad(u, -0x1.c71c71c71c71cp-4, 0x1.5555555555555p-2));
  const f64 rounded = mad(part.k - 1.0, 0x1.5555555555555p-2, bits_of<f64>::rounder);
  const f64 left = part.k - 3.0 * (rounded - bits_of<f64>::rounder);
  const f64 factor =
      left == 0.0 ? 1.0 : (left == 1.0 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0);
  const f64 factor_low =
      left == 0.0 ? 0.0 : (left == 1.0 ? -0x1.ddc22548ea41ep-56 : -0x1.f53e999952f09p-54);
  const pair<f64> product = two_product(y, factor);
  const f64 low = mad(rest, factor, mad(y, factor_low, product.lo));
  const f64 result = scale_by_power(product.hi + low, rounded);
  const bool ordinary = size > 0.0 && size < limits<f64>::infinity;
  return ordinary ? flip_sign(result, sign_bit(x)) : x;
}

// tan(hi + lo) = t, or -1 / t with one step of refinement. tan(hi) = hi + hi (z p(z)), where z and
// the product z p(z) are sums of two numbers. The derivative of tan is 1 + t^2.
GUF_FN f32 tan_of(angle<f32> a) {
  const pair<f32> z = two_product(a.hi, a.hi);
  const f32 p = polynomial(z.hi, kTan32);
  const pair<f32> growth = two_product(z.hi, p);
  const f32 near = mad(a.hi, growth.hi, a.hi);
  const f32 low = mad(a.hi, mad(z.lo, p, growth.lo), mad(a.lo, near * near, a.lo));
  const pair<f32> t = fast_two_sum(a.hi, mad(a.hi, growth.hi, low));
  const f32 inverse = -1.0f / t.hi;
  const f32 other = mad(inverse, mad(inverse, t.lo, mad(inverse, t.hi, 1.0f)), inverse);
  return (a.quadrant & 1u) != 0 ? other : t.hi;
}
GUF_FN f32 tan_any(f32 x) {
  return flip_sign(tan_of(reduce(magnitude(x))), sign_bit(x));
}
GUF_FN f32 tan_small(f32 x) {
  return flip_sign(tan_of(reduce_small(magnitude(x))), sign_bit(x));
}

// r = x^(-1/3) by two iterations of Halley's method. The first approximation comes from the bits of
// x: division by -3 divides the exponent by -3. Then one iteration of Newton's method for the cube
// root x r^2, with its exact cube.
GUF_FN f32 cbrt_any(f32 x) {
  const f32 size = magnitude(x);
  const bool small = size < 0x1p-60f;
  const f32 y = small ? size * 0x1p72f : size;
  f32 r = from_bits<f32>(0x54a23000u - to_bits(y) / 3u);
  for (int i = 0; i < 2; ++i) {
    const f32 h = mad(-(y * r) * r, r, 1.0f);
    r = mad(r * h, mad(h, 0x1.c71c72p-3f, 0x1.555556p-2f), r);
  }
  const f32 square = r * r;
  const f32 root = y * square;
  const pair<f32> power = two_product(root, root);
  const f32 error = mad(-power.lo, root, residual(y, power.hi, root));
  const f32 result = mad(error * square, 0x1.555556p-2f, root);
  const bool ordinary = size > 0.0f && size < limits<f32>::infinity;
  return ordinary ? flip_sign(small ? result * 0x1p-24f : result, sign_bit(x)) : x;
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_ROOT_HPP
