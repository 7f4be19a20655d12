// SPDX-License-Identifier: Apache-2.0
// The parts of a number and small exact functions: classification, exponent and
// fraction, neighbours, degrees, comparison. min and max are std::min and std::max; fmin and fmax
// prefer a number to a NaN.
#ifndef GUFUNC_KERNEL_MATH_PARTS_HPP
#define GUFUNC_KERNEL_MATH_PARTS_HPP

#include "math_bits.hpp"
#include "math_round.hpp"

namespace guf {

GUF_FN bool isnan(f32 x) {
  return x != x;
}
GUF_FN bool isnan(f64 x) {
  return x != x;
}
GUF_FN bool isinf(f32 x) {
  return detail::magnitude(x) == limits<f32>::infinity;
}
GUF_FN bool isinf(f64 x) {
  return detail::magnitude(x) == limits<f64>::infinity;
}
GUF_FN bool isfinite(f32 x) {
  return detail::magnitude(x) < limits<f32>::infinity;
}
GUF_FN bool isfinite(f64 x) {
  return detail::magnitude(x) < limits<f64>::infinity;
}
GUF_FN bool signbit(f32 x) {
  return detail::sign_bit(x) != 0;
}
GUF_FN bool signbit(f64 x) {
  return detail::sign_bit(x) != 0;
}

GUF_FN f32 abs(f32 x) {
  return fabs(x);
}
GUF_FN f64 abs(f64 x) {
  return fabs(x);
}
GUF_FN i32 abs(i32 x) {
  return (i32)(x < 0 ? 0u - (u32)x : (u32)x);
}
GUF_FN i64 abs(i64 x) {
  return (i64)(x < 0 ? u64(0) - (u64)x : (u64)x);
}

template <class T>
GUF_FN T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
GUF_FN T max(T a, T b) {
  return a < b ? b : a;
}
GUF_FN f32 fmin(f32 a, f32 b) {
  return b < a || a != a ? b : a;
}
GUF_FN f64 fmin(f64 a, f64 b) {
  return b < a || a != a ? b : a;
}
GUF_FN f32 fmax(f32 a, f32 b) {
  return a < b || a != a ? b : a;
}
GUF_FN f64 fmax(f64 a, f64 b) {
  return a < b || a != a ? b : a;
}

namespace detail {

// A finite nonzero |x| as fraction * 2^exponent with 1 <= fraction < 2.
template <class T>
struct fraction_and_exponent {
  T fraction;
  i32 exponent;
};
template <class T>
GUF_FN fraction_and_exponent<T> normalize(T size) {
  constexpr int width = bits_of<T>::mantissa;
  constexpr i32 bias = width == 52 ? 1023 : 127;
  constexpr T up = width == 52 ? T(0x1p54) : T(0x1p25);
  constexpr i32 shift = width == 52 ? 54 : 25;
  const bool subnormal = size < limits<T>::min_normal;
  const bits_t<T> bits = to_bits(subnormal ? size * up : size);
  constexpr bits_t<T> fraction_mask = (bits_t<T>(1) << width) - 1u;
  const i32 exponent = (i32)(bits >> width) - bias - (subnormal ? shift : 0);
  return {from_bits<T>((bits & fraction_mask) | ((bits_t<T>)bias << width)), exponent};
}

template <class T>
GUF_FN T next_after(T x, T y) {
  typedef bits_t<T> B;
  const B bits = to_bits(x);
  const bool outward = (y > x) == (x > T(0));
  const B moved = outward ? bits + 1u : bits - 1u;
  const T from_zero = from_bits<T>(sign_bit(y) | B(1));
  const T next = x == T(0) ? from_zero : from_bits<T>(moved);
  const T other = x == y ? y : next;
  return x != x || y != y ? x + y : other;
}

}  // namespace detail

// x = fraction * 2^exponent with 1/2 <= |fraction| < 1. The fraction of 0, infinities and NaN is
// the number itself.
template <class T>
struct frexp_result {
  T fraction;
  i32 exponent;
};
template <class T>
GUF_FN frexp_result<T> frexp(T x) {
  static_assert(is_float<T>::value, "frexp accepts f32 or f64");
  const detail::fraction_and_exponent<T> part = detail::normalize(fabs(x));
  const bool ordinary = x != T(0) && isfinite(x);
  // With copysign here, clang 19 compiles loops of bfloat16 for x86-64-v4 incorrectly.
  const T fraction = detail::flip_sign(T(0.5) * part.fraction, detail::sign_bit(x));
  return {ordinary ? fraction : x, ordinary ? part.exponent + 1 : 0};
}

// The integer part, rounded toward zero, and the remainder; both have the sign of x.
template <class T>
struct modf_result {
  T fraction, whole;
};
template <class T>
GUF_FN modf_result<T> modf(T x) {
  static_assert(is_float<T>::value, "modf accepts f32 or f64");
  const T whole = trunc(x);
  const T rest = isinf(x) ? T(0) : x - whole;
  return {copysign(rest, x), whole};
}

// x * 2^n, rounded once. The fraction of x is multiplied by two powers of two, and the first
// product is exact.
namespace detail {
template <class T>
GUF_FN T scale_by_integer(T x, i32 n) {
  constexpr int width = bits_of<T>::mantissa;
  constexpr i32 bias = width == 52 ? 1023 : 127;
  const fraction_and_exponent<T> part = normalize(magnitude(x));
  const i32 some = n < -10000 ? -10000 : (n > 10000 ? 10000 : n);
  const i32 sum = part.exponent + some;
  const i32 total = sum < -2 * bias ? -2 * bias : (sum > 2 * bias ? 2 * bias : sum);
  const i32 first = total / 2, second = total - first;
  const T scaled = part.fraction * from_bits<T>((bits_t<T>)(first + bias) << width) *
                   from_bits<T>((bits_t<T>)(second + bias) << width);
  const bool ordinary = x != T(0) && magnitude(x) < limits<T>::infinity;
  return ordinary ? flip_sign(scaled, sign_bit(x)) : x;
}
}  // namespace detail
GUF_FN f32 ldexp(f32 x, i32 n) {
  return detail::scale_by_integer(x, n);
}
GUF_FN f64 ldexp(f64 x, i32 n) {
  return detail::scale_by_integer(x, n);
}
GUF_FN f32 nextafter(f32 x, f32 y) {
  return detail::next_after(x, y);
}
GUF_FN f64 nextafter(f64 x, f64 y) {
  return detail::next_after(x, y);
}

namespace detail {
// x times a constant that is a sum of two numbers, with nearly one rounding.
GUF_FN f64 times_constant(f64 x, f64 hi, f64 lo) {
  const pair<f64> product = two_product(x, hi);
  const f64 exact = product.hi + mad(x, lo, product.lo);
  // Falls back to the plain product on an intermediate overflow, or if the low part underflows.
  return exact == exact && magnitude(x) > 0x1p-900 ? exact : product.hi;
}
}  // namespace detail
GUF_FN f64 degrees(f64 x) {
  return detail::times_constant(x, 0x1.ca5dc1a63c1f8p+5, -0x1.1e7ab456405f9p-49);
}
GUF_FN f64 radians(f64 x) {
  return detail::times_constant(x, 0x1.1df46a2529d39p-6, 0x1.5c1d8becdd291p-62);
}
GUF_FN f32 degrees(f32 x) {
  return (f32)((f64)x * 0x1.ca5dc1a63c1f8p+5);
}
GUF_FN f32 radians(f32 x) {
  return (f32)((f64)x * 0x1.1df46a2529d39p-6);
}

// Like Python's math.isclose: |a - b| <= max(relative * max(|a|, |b|), absolute); equal infinities
// are close.
template <class T>
GUF_FN bool isclose(T a, T b, T relative = T(1e-9), T absolute = T(0)) {
  const T distance = fabs(b - a);
  const T larger = fabs(a) < fabs(b) ? fabs(b) : fabs(a);
  const bool near = distance <= relative * larger || distance <= absolute;
  return a == b || (near && !isinf(a) && !isinf(b));
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_PARTS_HPP
