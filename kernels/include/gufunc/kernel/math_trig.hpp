// SPDX-License-Identifier: Apache-2.0
// sin and cos. The polynomials of sin and cos on [-pi/4, pi/4] are both computed, and the quadrant
// selects one of them.
#ifndef GUFUNC_KERNEL_MATH_TRIG_HPP
#define GUFUNC_KERNEL_MATH_TRIG_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"
#include "math_reduce_f32.hpp"

namespace guf {
namespace detail {

GUF_FN f32 sin_tail(f32 z) {
  return polynomial(z, kSin32);
}
GUF_FN f64 sin_tail(f64 z) {
  return polynomial(z, kSin64);
}
GUF_FN f32 cos_tail(f32 z) {
  return polynomial(z, kCos32);
}
GUF_FN f64 cos_tail(f64 z) {
  return polynomial(z, kCos64);
}

// The sine of the angle, or its cosine if the caller has added one to the quadrant.
template <class T>
GUF_FN T sin_of(angle<T> a, bits_t<T> quadrant) {
  const T z = a.hi * a.hi;
  const T half_z = T(0.5) * z;
  const T sine = a.hi + mad(a.hi * z, sin_tail(z), mad(-half_z, a.lo, a.lo));
  const T top = T(1) - half_z;
  const T lost = (T(1) - top) - half_z;
  const T cosine = top + mad(z * z, cos_tail(z), mad(-a.hi, a.lo, lost));
  const bits_t<T> sign = (quadrant & 2u) << (8 * sizeof(T) - 2);
  return flip_sign((quadrant & 1u) != 0 ? cosine : sine, sign);
}

template <class T>
GUF_FN T sin_small(T x) {
  const angle<T> a = reduce_small(magnitude(x));
  return flip_sign(sin_of(a, a.quadrant), sign_bit(x));
}
template <class T>
GUF_FN T cos_small(T x) {
  const angle<T> a = reduce_small(magnitude(x));
  return sin_of(a, a.quadrant + 1u);
}

template <class T>
GUF_FN T sin_any(T x) {
  const angle<T> a = reduce(magnitude(x));
  return flip_sign(sin_of(a, a.quadrant), sign_bit(x));
}
template <class T>
GUF_FN T cos_any(T x) {
  const angle<T> a = reduce(magnitude(x));
  return sin_of(a, a.quadrant + 1u);
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_TRIG_HPP
