// SPDX-License-Identifier: Apache-2.0
// The element types of the dialect: sized integers, the storage types b8, f16 and bf16, their
// limits, and the few type traits that the dialect needs (there is no <type_traits> on a device).
#ifndef GUFUNC_KERNEL_TYPES_HPP
#define GUFUNC_KERNEL_TYPES_HPP

#include "config.hpp"

namespace guf {

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
#if defined(GUF_OPENCL)
typedef long i64;
typedef unsigned long u64;
#else
typedef __INT64_TYPE__ i64;
typedef __UINT64_TYPE__ u64;
#endif
typedef float f32;
typedef double f64;
static_assert(sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8, "sized integers");

// ---- type traits

template <class A, class B>
struct is_same {
  static constexpr bool value = false;
};
template <class A>
struct is_same<A, A> {
  static constexpr bool value = true;
};
template <bool C, class A, class B>
struct conditional {
  typedef A type;
};
template <class A, class B>
struct conditional<false, A, B> {
  typedef B type;
};
template <bool C, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};

// An output of a function with several outputs: `template <class T> void f(T a, T b, guf::out<T> q,
// guf::out<T> r)`. T is deduced from the inputs alone; `T &` would be deduced differently where
// pointers have address spaces.
template <class T>
struct out_of {
  typedef T &type;
};
template <class T>
using out = typename out_of<T>::type;

// Reads the bits of `from` as another type of the same size.
template <class To, class From>
GUF_FN To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
#if defined(GUF_OPENCL)
  union {
    From from;
    To to;
  } both;
  both.from = from;
  return both.to;
#else
  return __builtin_bit_cast(To, from);
#endif
}

// ---- storage types: the types of array elements; functions receive their `value_t`

// One byte of a NumPy bool array. Any nonzero byte reads as true; true is written as 1.
struct b8 {
  u8 byte;
};
// IEEE binary16. A function receives f32; its result is rounded once, when it is stored.
struct f16 {
  u16 bits;
};
// bfloat16: the upper half of a binary32. A function receives f32; its result is rounded once, when
// it is stored.
struct bf16 {
  u16 bits;
};

GUF_FN f32 to_f32(f16 x);
GUF_FN f32 to_f32(bf16 x);
GUF_FN f16 to_f16(f32 x);
GUF_FN bf16 to_bf16(f32 x);

namespace detail {

// Converts with integer operations, for targets without conversion instructions. The code has no
// branches, so that it vectorises.
GUF_FN f32 f16_to_f32_by_integers(u16 bits) {
  const u32 sign = (u32)(bits & 0x8000u) << 16;
  const u32 shifted = (u32)(bits & 0x7fffu) << 13;
  const u32 exponent = shifted & 0x0f800000u;
  const u32 normal = shifted + 0x38000000u;
  const u32 special = shifted + 0x70000000u;  // inf and NaN
  // A subnormal: place it under the leading 1 of 2^-14, then subtract that 1.
  const u32 subnormal =
      bit_cast<u32>(bit_cast<f32>(shifted + 0x38800000u) - bit_cast<f32>(0x38800000u));
  const u32 small = exponent == 0 ? subnormal : normal;
  return bit_cast<f32>(sign | (exponent == 0x0f800000u ? special : small));
}

GUF_FN u16 f32_to_f16_by_integers(f32 x) {
  const u32 all = bit_cast<u32>(x);
  const u32 sign = (all >> 16) & 0x8000u;
  const u32 magnitude = all & 0x7fffffffu;
  // Normal results: rounds the bits to nearest even. A carry increments the exponent, up to
  // infinity.
  const u32 normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  // Subnormal results: the unit in the last place of 0.5f equals the unit in the last place of a
  // binary16 subnormal.
  const u32 subnormal = bit_cast<u32>(bit_cast<f32>(magnitude) + 0.5f) - 0x3f000000u;
  const u32 nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
  const u32 special = magnitude > 0x7f800000u ? nan : 0x7c00u;
  const u32 finite = magnitude < 0x38800000u ? subnormal : normal;
  return (u16)(sign | (magnitude >= 0x47800000u ? special : finite));
}

// Converts to f32 with round to odd: the last bit is set if `x` is not representable. Rounding the
// result to a narrower type is then equivalent to rounding `x` directly.
GUF_FN f32 f64_to_odd_f32(f64 x) {
  const f32 near = (f32)x;
  const f64 back = (f64)near;
  const u32 bits = bit_cast<u32>(near);
  const f64 size_of_x = x < 0 ? -x : x;
  const f64 size_of_back = back < 0 ? -back : back;
  const u32 other = size_of_back < size_of_x ? bits + 1u : bits - 1u;
  const bool inexact = back < x || back > x;
  return bit_cast<f32>(inexact && (bits & 1u) == 0 ? other : bits);
}

}  // namespace detail

#if (defined(GUF_HOST) && defined(__F16C__) && defined(__FLT16_MAX__)) || \
    ((defined(GUF_HIP) || defined(GUF_CUDA)) && defined(__clang__))
GUF_FN f32 to_f32(f16 x) {
#if defined(GUF_CUDA)
  // PTX does not define the sign of the NaN that the conversion returns. copysign and signbit read
  // the sign.
  const f32 value = (f32)bit_cast<_Float16>(x.bits);
  return bit_cast<f32>(bit_cast<u32>(value) | (u32)(x.bits & 0x8000u) << 16);
#else
  return (f32)bit_cast<_Float16>(x.bits);
#endif
}
GUF_FN f16 to_f16(f32 x) {
  return f16{bit_cast<u16>((_Float16)x)};
}
#else
GUF_FN f32 to_f32(f16 x) {
  return detail::f16_to_f32_by_integers(x.bits);
}
GUF_FN f16 to_f16(f32 x) {
  return f16{detail::f32_to_f16_by_integers(x)};
}
#endif

GUF_FN f32 to_f32(bf16 x) {
  return bit_cast<f32>((u32)x.bits << 16);
}
GUF_FN bf16 to_bf16(f32 x) {
  const u32 bits = bit_cast<u32>(x);
  const u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const u32 nan = (bits >> 16) | 0x40u;
  return bf16{(u16)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

// Rounds to a floating-point storage type.
template <class T>
GUF_FN T from_f32(f32 x);
template <>
GUF_FN f16 from_f32<f16>(f32 x) {
  return to_f16(x);
}
template <>
GUF_FN bf16 from_f32<bf16>(f32 x) {
  return to_bf16(x);
}

// The floating-point storage types: structures with the member `bits` whose value type is f32.
template <class T>
struct is_stored_float {
  static constexpr bool value = is_same<T, f16>::value || is_same<T, bf16>::value;
};

// The bit patterns of floating-point formats. Without the sign, a pattern below `infinity` is a
// finite number, and a pattern above it is a NaN.
template <class T>
struct float_bits;
template <>
struct float_bits<f16> {
  typedef u16 word;
  static constexpr u16 infinity = 0x7c00, smallest_normal = 0x0400;
};
template <>
struct float_bits<bf16> {
  typedef u16 word;
  static constexpr u16 infinity = 0x7f80, smallest_normal = 0x0080;
};
template <>
struct float_bits<f32> {
  typedef u32 word;
  static constexpr u32 infinity = 0x7f800000, smallest_normal = 0x00800000;
};
template <>
struct float_bits<f64> {
  typedef u64 word;
  static constexpr u64 infinity = 0x7ff0000000000000, smallest_normal = 0x0010000000000000;
};

// The type that a function receives for an element that is stored as T.
template <class T>
struct value_of {
  typedef typename conditional<is_stored_float<T>::value, f32, T>::type type;
};
template <>
struct value_of<b8> {
  typedef bool type;
};
template <class T>
using value_t = typename value_of<T>::type;

// ---- limits

template <class T>
struct limits;
#define GUF_INTEGER_LIMITS(T, LOWEST, MAX)           \
  template <>                                        \
  struct limits<T> {                                 \
    static constexpr bool is_integer = true;         \
    static constexpr bool is_signed = (LOWEST) != 0; \
    static constexpr T lowest = (T)(LOWEST);         \
    static constexpr T max = (T)(MAX);               \
  };
GUF_INTEGER_LIMITS(i8, -128, 127)
GUF_INTEGER_LIMITS(u8, 0, 255)
GUF_INTEGER_LIMITS(i16, -32768, 32767)
GUF_INTEGER_LIMITS(u16, 0, 65535)
GUF_INTEGER_LIMITS(i32, -2147483647 - 1, 2147483647)
GUF_INTEGER_LIMITS(u32, 0, 4294967295u)
GUF_INTEGER_LIMITS(i64, -0x7fffffffffffffff - 1, 0x7fffffffffffffff)
GUF_INTEGER_LIMITS(u64, 0, 0xffffffffffffffffu)
#if defined(GUF_HOST)  // i64 is long, which is another type in C++
GUF_INTEGER_LIMITS(long long, -0x7fffffffffffffff - 1, 0x7fffffffffffffff)
GUF_INTEGER_LIMITS(unsigned long long, 0, 0xffffffffffffffffu)
#endif
#undef GUF_INTEGER_LIMITS
template <>
struct limits<bool> {
  static constexpr bool is_integer = true;
  static constexpr bool is_signed = false;
  static constexpr bool lowest = false;
  static constexpr bool max = true;
};
template <>
struct limits<f32> {
  static constexpr bool is_integer = false;
  static constexpr bool is_signed = true;
  static constexpr f32 max = 0x1.fffffep+127f;
  static constexpr f32 lowest = -max;
  static constexpr f32 min_normal = 0x1p-126f;
  static constexpr f32 epsilon = 0x1p-23f;
  static constexpr f32 infinity = __builtin_huge_valf();
  static constexpr f32 nan = __builtin_nanf("");
};
template <>
struct limits<f64> {
  static constexpr bool is_integer = false;
  static constexpr bool is_signed = true;
  static constexpr f64 max = 0x1.fffffffffffffp+1023;
  static constexpr f64 lowest = -max;
  static constexpr f64 min_normal = 0x1p-1022;
  static constexpr f64 epsilon = 0x1p-52;
  static constexpr f64 infinity = __builtin_huge_val();
  static constexpr f64 nan = __builtin_nan("");
};

template <class T>
struct is_float {
  static constexpr bool value = is_same<T, f32>::value || is_same<T, f64>::value;
};

template <class T>
struct complex;

}  // namespace guf

#include "cast.hpp"
#include "complex.hpp"

#endif  // GUFUNC_KERNEL_TYPES_HPP
