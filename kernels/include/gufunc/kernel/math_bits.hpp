// SPDX-License-Identifier: Apache-2.0
// Building blocks of the mathematics: the bits of a number, polynomials, and sums and products
// with their rounding errors. Branch-free, so that loops over them vectorise. They require the
// default rounding mode and no contraction of a * b + c (-ffp-contract=off).
#ifndef GUFUNC_KERNEL_MATH_BITS_HPP
#define GUFUNC_KERNEL_MATH_BITS_HPP

#include "types.hpp"

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || !defined(GUF_HOST)
#define GUF_HAS_FMA 1
#else
#define GUF_HAS_FMA 0
#endif

#if defined(__SSE4_1__) || defined(__aarch64__) || !defined(GUF_HOST)
#define GUF_HAS_RINT 1
#else
#define GUF_HAS_RINT 0
#endif

namespace guf {
namespace detail {

template <class T>
struct bits_of;
template <>
struct bits_of<f32> {
  typedef u32 type;
  typedef i32 integer;
  static constexpr int mantissa = 23;
  static constexpr u32 bias = 127;
  static constexpr u32 sign = 0x80000000u;
  static constexpr u32 infinity = 0x7f800000u;
  // Adding `rounder` to a number below 2^22 rounds the number to an integer, which is then in the
  // low bits of the sum.
  static constexpr f32 rounder = 0x1.8p23f;
};
template <>
struct bits_of<f64> {
  typedef u64 type;
  typedef i64 integer;
  static constexpr int mantissa = 52;
  static constexpr u64 bias = 1023;
  static constexpr u64 sign = 0x8000000000000000u;
  static constexpr u64 infinity = 0x7ff0000000000000u;
  static constexpr f64 rounder = 0x1.8p52;
};
template <class T>
using bits_t = typename bits_of<T>::type;

template <class T>
GUF_FN bits_t<T> to_bits(T x) {
  return bit_cast<bits_t<T>>(x);
}
template <class T>
GUF_FN T from_bits(bits_t<T> b) {
  return bit_cast<T>(b);
}
template <class T>
GUF_FN bits_t<T> sign_bit(T x) {
  return to_bits(x) & bits_of<T>::sign;
}
template <class T>
GUF_FN T magnitude(T x) {
  return from_bits<T>(to_bits(x) & ~bits_of<T>::sign);
}
template <class T>
GUF_FN T flip_sign(T x, bits_t<T> sign) {
  return from_bits<T>(to_bits(x) ^ sign);
}

// x clamped to [low, high]; NaN stays NaN.
template <class T>
GUF_FN T clamp(T x, T low, T high) {
  const T above = x < low ? low : x;
  return above > high ? high : above;
}

// a * b + c rounded once. Without an FMA instruction, the f32 version computes in f64 and rounds a
// second time, which changes about one result in 2^29 by one unit in the last place, and there is
// no f64 version: use mad or residual.
#if GUF_HAS_FMA
GUF_FN f32 fused(f32 a, f32 b, f32 c) {
  return __builtin_fmaf(a, b, c);
}
GUF_FN f64 fused(f64 a, f64 b, f64 c) {
  return __builtin_fma(a, b, c);
}
#else
GUF_FN f32 fused(f32 a, f32 b, f32 c) {
  return (f32)((f64)a * (f64)b + (f64)c);
}
#endif

// a * b + c. For f64, it has one or two roundings, for uses in which the difference does not
// matter. For f32, it is `fused`, so that the f32 functions return the same bits on all processors
// with an FMA instruction.
GUF_FN f32 mad(f32 a, f32 b, f32 c) {
  return fused(a, b, c);
}
GUF_FN f64 mad(f64 a, f64 b, f64 c) {
#if GUF_HAS_FMA
  return fused(a, b, c);
#else
  return a * b + c;
#endif
}

// table[0] + z table[1] + z^2 table[2] + ... In OpenCL, the type of the elements of a GUF_TABLE
// contains their address space.
template <int I = 0, class T, class Element, int N>
GUF_FN T polynomial(T z, Element (&table)[N]) {
  if constexpr (I == N - 1) {
    return table[I];
  } else {
    return mad(polynomial<I + 1>(z, table), z, table[I]);
  }
}

// An unevaluated sum hi + lo, |lo| <= ulp(hi) / 2.
template <class T>
struct pair {
  T hi, lo;
};

// A conditional operator for pairs, because that of OpenCL C++ does not accept operands in
// different address spaces.
template <class T>
GUF_FN pair<T> choose(bool first, pair<T> a, pair<T> b) {
  return {first ? a.hi : b.hi, first ? a.lo : b.lo};
}

template <class T>
GUF_FN pair<T> two_sum(T a, T b) {
  const T sum = a + b;
  const T b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// Like two_sum, but valid only if |a| >= |b| or a == 0.
template <class T>
GUF_FN pair<T> fast_two_sum(T a, T b) {
  const T sum = a + b;
  return {sum, b - (sum - a)};
}

GUF_FN pair<f32> two_product(f32 a, f32 b) {
  const f32 product = a * b;
  return {product, fused(a, b, -product)};
}
#if GUF_HAS_FMA
GUF_FN pair<f64> two_product(f64 a, f64 b) {
  const f64 product = a * b;
  return {product, fused(a, b, -product)};
}
#else
// Veltkamp's split: products of the two halves are exact.
GUF_FN pair<f64> split(f64 a) {
  const f64 c = a * 0x1.0000002p27;
  const f64 high = c - (c - a);
  return {high, a - high};
}
GUF_FN pair<f64> two_product(f64 a, f64 b) {
  const f64 product = a * b;
  const pair<f64> x = split(a), y = split(b);
  return {product, ((x.hi * y.hi - product) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}
#endif

// c - a * b for operands that nearly cancel; includes the rounding error of the product.
GUF_FN f32 residual(f32 c, f32 a, f32 b) {
  return fused(-a, b, c);
}
GUF_FN f64 residual(f64 c, f64 a, f64 b) {
#if GUF_HAS_FMA
  return fused(-a, b, c);
#else
  const pair<f64> product = two_product(a, b);
  return (c - product.hi) - product.lo;
#endif
}

// Rounds to the nearest integer, ties to even, for any x. A zero result has the sign of x.
#if GUF_HAS_RINT
GUF_FN f32 nearest_integer(f32 x) {
  return __builtin_rintf(x);
}
GUF_FN f64 nearest_integer(f64 x) {
  return __builtin_rint(x);
}
#else
template <class T>
GUF_FN T nearest_integer(T x) {
  const T size = magnitude(x);
  const T one_ulp = bits_of<T>::mantissa == 52 ? T(0x1p52) : T(0x1p23);
  const T rounded = (size + one_ulp) - one_ulp;
  return from_bits<T>(to_bits(size < one_ulp ? rounded : size) | sign_bit(x));
}
#endif

// 2^n, for the integer n in the low bits of `rounder + n`, as two factors. Each factor is in range
// for n within four times the exponent range, and only the second product rounds.
template <class T>
GUF_FN T scale_by_power(T x, T rounded) {
  typedef bits_t<T> B;
  constexpr int shift = bits_of<T>::mantissa;
  constexpr B bias = bits_of<T>::bias;
  const B n = to_bits(rounded) - to_bits(bits_of<T>::rounder) + 32 * bias;
  const B first = n >> 1, second = n - first;  // each is n/2 + 16 bias
  return x * from_bits<T>((first - 15 * bias) << shift) *
         from_bits<T>((second - 15 * bias) << shift);
}

}  // namespace detail
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_BITS_HPP
