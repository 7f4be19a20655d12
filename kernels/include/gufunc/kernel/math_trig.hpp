// SPDX-License-Identifier: Apache-2.0
// sin and cos. The polynomials of sin and cos on [-pi/4, pi/4] are both computed, and the quadrant
// selects one of them.
#ifndef GUFUNC_KERNEL_MATH_TRIG_HPP
#define GUFUNC_KERNEL_MATH_TRIG_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"
#include "math_reduce.hpp"
#include "math_reduce_f32.hpp"

namespace guf {
namespace detail {

GUF_FN f64 sin_reduced(f64 r, f64 tail, f64 z) {
  const f64 correction = mad(-0.5 * z, tail, tail);
  return r + mad(r * z, polynomial(z, kSin64), correction);
}
GUF_FN f64 cos_reduced(f64 r, f64 tail, f64 z) {
  const f64 half_z = 0.5 * z;
  const f64 top = 1.0 - half_z;
  const f64 lost = (1.0 - top) - half_z;
  return top + mad(z * z, polynomial(z, kCos64), mad(-r, tail, lost));
}

// The sine of the angle, or its cosine if the caller has added one to the quadrant.
GUF_FN f64 sin_of(angle a, u64 quadrant) {
  const f64 z = a.hi * a.hi;
  const f64 sine = sin_reduced(a.hi, a.lo, z);
  const f64 cosine = cos_reduced(a.hi, a.lo, z);
  return flip_sign((quadrant & 1u) != 0 ? cosine : sine, (quadrant & 2u) << 62);
}

// The same for f32.
GUF_FN f32 sin_of(angle_f32 a, u32 quadrant) {
  const f32 z = a.hi * a.hi;
  const f32 half_z = 0.5f * z;
  const f32 sine = a.hi + mad(a.hi * z, polynomial(z, kSin32), mad(-half_z, a.lo, a.lo));
  const f32 top = 1.0f - half_z;
  const f32 lost = (1.0f - top) - half_z;
  const f32 cosine = top + mad(z * z, polynomial(z, kCos32), mad(-a.hi, a.lo, lost));
  return flip_sign((quadrant & 1u) != 0 ? cosine : sine, (quadrant & 2u) << 30);
}

GUF_FN f32 sin_small(f32 x) {
  const angle_f32 a = reduce_small(magnitude(x));
  return flip_sign(sin_of(a, a.quadrant), sign_bit(x));
}
GUF_FN f32 cos_small(f32 x) {
  const angle_f32 a = reduce_small(magnitude(x));
  return sin_of(a, a.quadrant + 1u);
}
GUF_FN f64 sin_small(f64 x) {
  const angle a = reduce_small(magnitude(x));
  return flip_sign(sin_of(a, a.quadrant), sign_bit(x));
}
GUF_FN f64 cos_small(f64 x) {
  const angle a = reduce_small(magnitude(x));
  return sin_of(a, a.quadrant + 1u);
}

template <class T>
GUF_FN T sin_any(T x) {
  const auto a = reduce(magnitude(x));
  return flip_sign(sin_of(a, a.quadrant), sign_bit(x));
}
template <class T>
GUF_FN T cos_any(T x) {
  const auto a = reduce(magnitude(x));
  return sin_of(a, a.quadrant + 1u);
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_TRIG_HPP
