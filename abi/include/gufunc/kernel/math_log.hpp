// SPDX-License-Identifier: Apache-2.0
// log on the host. x = 2^k m with sqrt(1/2) <= m < sqrt(2), f = m - 1, and log(1 + f) by a polynomial
// (f32) or by the series of atanh in s = f / (2 + f) (f64), whose division costs less than ten
// more terms.
#ifndef GUFUNC_KERNEL_MATH_LOG_HPP
#define GUFUNC_KERNEL_MATH_LOG_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"

namespace guf {
namespace detail {

// x = 2^k * (1 + f), x positive and finite (subnormal too); elsewhere some numbers.
template <class T>
struct binary_parts {
  T k, f;
};

// What one of x's exponent and `offset` gives for x in the normal range.
GUF_FN binary_parts<f64> split_normal(f64 x, f64 offset) {
  constexpr u64 root_half = 0x3fe6a09e667f3bcdu;
  const u64 moved = to_bits(x) + (0x3ff0000000000000u - root_half);
  const f64 m = from_bits<f64>((moved & 0x000fffffffffffffu) + root_half);
  // The biased exponent, put into the low bits of 2^52: no 64-bit conversion on AVX2.
  const f64 biased = from_bits<f64>((moved >> 52) | 0x4330000000000000u);
  return {biased - (0x1p52 + 1023.0 - offset), m - 1.0};
}
GUF_FN binary_parts<f32> split_normal(f32 x, f32 offset) {
  constexpr u32 root_half = 0x3f3504f3u;
  const u32 moved = to_bits(x) + (0x3f800000u - root_half);
  const f32 m = from_bits<f32>((moved & 0x007fffffu) + root_half);
  return {(f32)((i32)(moved >> 23) - 127) + offset, m - 1.0f};
}

template <class T>
GUF_FN binary_parts<T> split_exponent(T x) {
  constexpr T up = sizeof(T) == 8 ? T(0x1p54) : T(0x1p25);
  constexpr T shift = sizeof(T) == 8 ? T(-54) : T(-25);
  const bool subnormal = x < limits<T>::min_normal;
  return split_normal(subnormal ? x * up : x, subnormal ? shift : T(0));
}

template <class T>
struct log_constants;
template <>
struct log_constants<f32> {
  static constexpr f32 ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
};
template <>
struct log_constants<f64> {
  static constexpr f64 ln2_hi = 0x1.62e42fefa38p-1, ln2_lo = 0x1.ef35793c7673p-45;
};

// log(1 + f) - f, f as split_exponent gives it.
GUF_FN f32 log_less_f(f32 f) {
  const f32 square = f * f;
  return mad(square * f, polynomial(f, kLog32), -0.5f * square);
}
GUF_FN f64 log_less_f(f64 f) {
  const f64 s = f / (2.0 + f);
  const f64 z = s * s;
  const f64 half_square = 0.5 * f * f;
  return s * mad(z, polynomial(z, kLog64), half_square) - half_square;
}

// The values of log at the places where log has none to compute.
template <class T>
GUF_FN T log_special(T x, T ordinary) {
  const T positive = x < limits<T>::infinity ? ordinary : x;  // infinity and NaN stay
  const T zero = x == T(0) ? -limits<T>::infinity : limits<T>::nan;
  return x <= T(0) ? zero : positive;
}

template <class T>
GUF_FN T log_any(T x) {
  typedef log_constants<T> C;
  const binary_parts<T> part = split_exponent(x);
  const pair<T> sum = fast_two_sum(part.k * C::ln2_hi, part.f);
  const T low = mad(part.k, C::ln2_lo, log_less_f(part.f));
  return log_special(x, sum.hi + (sum.lo + low));
}

}  // namespace detail

GUF_FN f32 log(f32 x) { return detail::log_any(x); }
GUF_FN f64 log(f64 x) { return detail::log_any(x); }

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_LOG_HPP
