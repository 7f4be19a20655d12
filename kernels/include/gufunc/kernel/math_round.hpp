// SPDX-License-Identifier: Apache-2.0
// The exact operations: sqrt, rounding to integers, signs. They are single instructions if the ISA
// level has them.
#ifndef GUFUNC_KERNEL_MATH_ROUND_HPP
#define GUFUNC_KERNEL_MATH_ROUND_HPP

#include "math_bits.hpp"

namespace guf {

GUF_FN f32 sqrt(f32 x) {
  return __builtin_sqrtf(x);
}
GUF_FN f64 sqrt(f64 x) {
  return __builtin_sqrt(x);
}
GUF_FN f32 fabs(f32 x) {
  return detail::magnitude(x);
}
GUF_FN f64 fabs(f64 x) {
  return detail::magnitude(x);
}
GUF_FN f32 copysign(f32 x, f32 y) {
  return detail::flip_sign(fabs(x), detail::sign_bit(y));
}
GUF_FN f64 copysign(f64 x, f64 y) {
  return detail::flip_sign(fabs(x), detail::sign_bit(y));
}

// Rounds to the nearest integer, ties to even.
GUF_FN f32 rint(f32 x) {
  return detail::nearest_integer(x);
}
GUF_FN f64 rint(f64 x) {
  return detail::nearest_integer(x);
}

#if GUF_HAS_RINT
GUF_FN f32 floor(f32 x) {
  return __builtin_floorf(x);
}
GUF_FN f64 floor(f64 x) {
  return __builtin_floor(x);
}
GUF_FN f32 ceil(f32 x) {
  return __builtin_ceilf(x);
}
GUF_FN f64 ceil(f64 x) {
  return __builtin_ceil(x);
}
GUF_FN f32 trunc(f32 x) {
  return __builtin_truncf(x);
}
GUF_FN f64 trunc(f64 x) {
  return __builtin_trunc(x);
}
#else
namespace detail {
// Rounds x to the nearest integer, and subtracts 1 if that integer is above x. A zero result has
// the sign of x.
template <class T>
GUF_FN T floor_any(T x) {
  const T near = nearest_integer(x);
  return guf::copysign(near > x ? near - T(1) : near, x);
}
template <class T>
GUF_FN T trunc_any(T x) {
  return guf::copysign(floor_any(magnitude(x)), x);
}
}  // namespace detail
GUF_FN f32 floor(f32 x) {
  return detail::floor_any(x);
}
GUF_FN f64 floor(f64 x) {
  return detail::floor_any(x);
}
GUF_FN f32 ceil(f32 x) {
  return -detail::floor_any(-x);
}
GUF_FN f64 ceil(f64 x) {
  return -detail::floor_any(-x);
}
GUF_FN f32 trunc(f32 x) {
  return detail::trunc_any(x);
}
GUF_FN f64 trunc(f64 x) {
  return detail::trunc_any(x);
}
#endif

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_ROUND_HPP
