// SPDX-License-Identifier: Apache-2.0
// log. x = 2^k m with sqrt(1/2) <= m < sqrt(2), f = m - 1. For f32, a polynomial approximates log(1
// + f). For f64, the series of atanh in s = f / (2 + f) is used, because the division costs less
// than the ten additional terms of a polynomial.
#ifndef GUFUNC_KERNEL_MATH_LOG_HPP
#define GUFUNC_KERNEL_MATH_LOG_HPP

#include "math_bits.hpp"
#include "math_coefficients.hpp"

namespace guf {
namespace detail {

// x = 2^k * (1 + f) for positive finite x, including subnormals. The result for other x is
// unspecified.
template <class T>
struct binary_parts {
  T k, f;
};

// Like split_exponent, for an x in the normal range. `offset` is added to k.
GUF_FN binary_parts<f64> split_normal(f64 x, f64 offset) {
  constexpr u64 root_half = 0x3fe6a09e667f3bcdu;
  const u64 moved = to_bits(x) + (0x3ff0000000000000u - root_half);
  const f64 m = from_bits<f64>((moved & 0x000fffffffffffffu) + root_half);
  // Put the biased exponent into the low bits of 2^52, because AVX2 lacks a conversion of 64-bit
  // integers.
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

// log(1 + f) - f, with f from split_exponent.
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

// Returns `ordinary`, or the value of log for a zero, negative, infinite or NaN x.
template <class T>
GUF_FN T log_special(T x, T ordinary) {
  const T positive = x < limits<T>::infinity ? ordinary : x;  // infinity and NaN are unchanged
  const T zero = x == T(0) ? -limits<T>::infinity : limits<T>::nan;
  return x <= T(0) ? zero : positive;
}

template <class T>
GUF_FN T log_of_parts(binary_parts<T> part) {
  typedef log_constants<T> C;
  const pair<T> sum = fast_two_sum(part.k * C::ln2_hi, part.f);
  const T low = mad(part.k, C::ln2_lo, log_less_f(part.f));
  return sum.hi + (sum.lo + low);
}
template <class T>
GUF_FN T log_any(T x) {
  return log_special(x, log_of_parts(split_exponent(x)));
}
// The logarithm of x, which must be positive, normal and finite.
template <class T>
GUF_FN T log_ordinary(T x) {
  return log_of_parts(split_normal(x, T(0)));
}

// The logarithm to another base: k log(2) + (f + rest) / log(base), with the constants as sums of
// two numbers.
GUF_FN f64 log_scaled(binary_parts<f64> part, f64 two_hi, f64 two_lo, f64 scale_hi, f64 scale_lo) {
  const pair<f64> most = two_product(part.f, scale_hi);
  const f64 rest = mad(log_less_f(part.f), scale_hi, mad(part.f, scale_lo, most.lo));
  const pair<f64> sum = fast_two_sum(part.k * two_hi, most.hi);
  return sum.hi + (sum.lo + mad(part.k, two_lo, rest));
}
GUF_FN f64 log2_of_parts(binary_parts<f64> part) {
  return log_scaled(part, 1.0, 0.0, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56);
}
GUF_FN f64 log10_of_parts(binary_parts<f64> part) {
  return log_scaled(part, 0x1.34413509f78p-2, 0x1.fef311f12b358p-46, 0x1.bcb7b1526e50ep-2,
                    0x1.95355baaafad3p-57);
}

GUF_FN f32 log2_of_parts(binary_parts<f32> part) {
  const pair<f32> most = two_product(part.f, 0x1.715476p+0f);
  const pair<f32> square = two_product(part.f, part.f);
  const f32 p = polynomial(part.f, kLogTwo32);
  const f32 tail = mad(square.hi, kLogTwo32Low, mad(part.f, 0x1.4ae0cp-26f, most.lo));
  const f32 rest = mad(square.hi, p, mad(square.lo, p, tail));
  const pair<f32> sum = fast_two_sum(part.k, most.hi);
  return sum.hi + (sum.lo + rest);
}
GUF_FN f32 log10_of_parts(binary_parts<f32> part) {
  const pair<f32> most = two_product(part.f, 0x1.bcb7b2p-2f);
  const f32 square = part.f * part.f;
  const f32 tail = mad(square, kLogTen32Low, mad(part.f, -0x1.5b235ep-27f, most.lo));
  const f32 rest = mad(square, polynomial(part.f, kLogTen32), tail);
  const pair<f32> sum = fast_two_sum(part.k * 0x1.344p-2f, most.hi);
  return sum.hi + (sum.lo + mad(part.k, 0x1.3509f8p-18f, rest));
}

template <class T>
GUF_FN T log2_any(T x) {
  return log_special(x, log2_of_parts(split_exponent(x)));
}
template <class T>
GUF_FN T log10_any(T x) {
  return log_special(x, log10_of_parts(split_exponent(x)));
}

// log(2^k (hi + lo)) for a positive normal hi and |lo| <= ulp(hi) / 2.
template <class T>
GUF_FN T log_of_sum(T hi, T lo, T k) {
  typedef log_constants<T> C;
  const binary_parts<T> part = split_normal(hi, T(0));
  const T f = part.f;
  // Scale lo like f, by 2^-part.k. For a large part.k, lo is negligible and the power is not
  // representable.
  const bits_t<T> power = (bits_of<T>::bias - to_bits(part.k + bits_of<T>::rounder))
                          << bits_of<T>::mantissa;
  const T f_low = part.k > T(100) ? T(0) : lo * from_bits<T>(power);
  const T correction = f_low * mad(f, f - T(1), T(1));  // f_low / (1 + f), approximately
  const T exponent = part.k + k;
  const pair<T> sum = fast_two_sum(exponent * C::ln2_hi, f);
  const T low = mad(exponent, C::ln2_lo, log_less_f(f) + correction);
  return sum.hi + (sum.lo + low);
}

GUF_FN f64 log1p_any(f64 x) {
  const pair<f64> sum = two_sum(1.0, x);
  const f64 ordinary = log_special(sum.hi, log_of_sum(sum.hi, sum.lo, 0.0));
  return magnitude(x) < 0x1p-54 ? x : ordinary;
}

// 1 + x = 2^k (1 + f), where f is computed from x, not from the rounded sum 1 + x.
GUF_FN f32 log1p_any(f32 x) {
  typedef log_constants<f32> C;
  constexpr u32 root_half = 0x3f3504f3u, one = 0x3f800000u;
  const f32 sum = 1.0f + x;
  const u32 power = ((to_bits(sum) + (one - root_half)) & 0xff800000u) - one;  // k 2^23
  const u32 inverse = one - power;  // the bits of 2^-k, or of a negative number for k = 128
  const f32 less = from_bits<f32>((i32)inverse < 0 ? 0u : inverse) - 1.0f;
  const pair<f32> f = fast_two_sum(less, from_bits<f32>(to_bits(x) - power));
  const f32 f_low = f.lo * mad(f.hi, f.hi - 1.0f, 1.0f);  // f.lo / (1 + f.hi), approximately
  const f32 k = (f32)((i32)power >> 23);
  const pair<f32> most = fast_two_sum(k * C::ln2_hi, f.hi);
  const f32 low = most.lo + mad(k, C::ln2_lo, log_less_f(f.hi) + f_low);
  const f32 ordinary = log_special(sum, most.hi + low);
  return magnitude(x) < 0x1p-25f ? x : ordinary;
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_LOG_HPP
