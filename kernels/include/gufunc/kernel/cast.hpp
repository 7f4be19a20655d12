// SPDX-License-Identifier: Apache-2.0
// guf::cast: the only conversion between element types, with the same bits on every ISA and device.
//   float -> integer   truncates and saturates; NaN becomes 0
//   anything -> bool   x != 0 (NaN is true)
//   complex -> real    drops the imaginary part
//   integer -> integer keeps the low bits
//   to f16 and bf16    rounds once to nearest even, from every source type
#ifndef GUFUNC_KERNEL_CAST_HPP
#define GUFUNC_KERNEL_CAST_HPP

#include "complex.hpp"

namespace guf {
namespace detail {

template <class To, class From>
struct caster;

// Returns the largest value of an integer type plus 1. This is a power of two, so it is exact.
template <class To, class From>
GUF_FN constexpr From past_max() {
  return (From)(limits<To>::max / 2 + 1) * From(2);
}

template <class To, class From>
GUF_FN To float_to_integer(From x) {
  constexpr From lowest = (From)limits<To>::lowest;
  constexpr From past = past_max<To, From>();
  const bool inside = x > lowest && x < past;  // false for NaN
  const To truncated = (To)(inside ? x : From(0));
  const To upper = x >= past ? limits<To>::max : truncated;
  return x <= lowest ? limits<To>::lowest : upper;
}

// Returns a number that is exact in f64 and rounds like `x` to types with at most 24 bits of
// precision.
template <class From>
GUF_FN f64 integer_to_sticky_f64(From x) {
  if constexpr (sizeof(From) < 8) {
    return (f64)x;
  } else {
    const bool negative = limits<From>::is_signed && x < From(0);
    const u64 size = negative ? u64(0) - (u64)x : (u64)x;
    const u64 lost = size & 0x1ffffu;
    const u64 sticky = (size & ~u64(0x1ffffu)) | (lost != 0 ? 0x10000u : 0u);
    const u64 kept = (size >> 40) != 0 ? sticky : size;
    return negative ? -(f64)kept : (f64)kept;
  }
}

template <class From>
GUF_FN f32 to_odd_f32(From x) {
  if constexpr (is_same<From, f32>::value) {
    return x;
  } else if constexpr (is_same<From, f64>::value) {
    return f64_to_odd_f32(x);
  } else {
    return f64_to_odd_f32(integer_to_sticky_f64<From>(x));
  }
}
template <>
GUF_FN f32 to_odd_f32<bool>(bool x) {
  return x ? 1.0f : 0.0f;
}

// Converts an arithmetic type (bool, integers, f32, f64) to a real type.
template <class To, class From>
struct real_caster {
  static GUF_FN To go(From x) {
    if constexpr (is_same<To, From>::value) {
      return x;
    } else if constexpr (is_stored_float<To>::value) {
      return from_f32<To>(to_odd_f32<From>(x));
    } else if constexpr (is_same<To, bool>::value) {
      return x != From(0);
    } else if constexpr (is_float<From>::value && !is_float<To>::value) {
      return float_to_integer<To, From>(x);
    } else {
      return (To)x;
    }
  }
};
template <class From>
struct real_caster<b8, From> {
  static GUF_FN b8 go(From x) { return b8{(u8)(x != From(0) ? 1 : 0)}; }
};
template <>
struct real_caster<b8, bool> {
  static GUF_FN b8 go(bool x) { return b8{(u8)x}; }
};

// Converts a source of a storage type to its value type first, and handles complex numbers. Casts
// from a storage type to itself keep the bits, including NaN payloads.
template <class To, class From>
struct caster {
  static GUF_FN To go(From x) {
    if constexpr (is_stored_float<From>::value && !is_same<To, From>::value) {
      return caster<To, f32>::go(to_f32(x));
    } else {
      return real_caster<To, From>::go(x);
    }
  }
};
template <class To>
struct caster<To, b8> {
  static GUF_FN To go(b8 x) { return caster<To, bool>::go(x.byte != 0); }
};
template <class To, class R>
struct caster<To, complex<R>> {
  static GUF_FN To go(complex<R> x) { return caster<To, R>::go(x.re); }
};
template <class R>
struct caster<bool, complex<R>> {
  static GUF_FN bool go(complex<R> x) { return x.re != R(0) || x.im != R(0); }
};
template <class R>
struct caster<b8, complex<R>> {
  static GUF_FN b8 go(complex<R> x) { return b8{(u8)(x.re != R(0) || x.im != R(0) ? 1 : 0)}; }
};
template <class R, class From>
struct caster<complex<R>, From> {
  static GUF_FN complex<R> go(From x) { return complex<R>(caster<R, From>::go(x)); }
};
template <class R, class From>
struct caster<complex<R>, complex<From>> {
  static GUF_FN complex<R> go(complex<From> x) {
    return complex<R>(caster<R, From>::go(x.re), caster<R, From>::go(x.im));
  }
};
template <class R>
struct caster<complex<R>, b8> {
  static GUF_FN complex<R> go(b8 x) { return complex<R>(x.byte != 0 ? R(1) : R(0)); }
};

}  // namespace detail

template <class To, class From>
GUF_FN To cast(From x) {
  return detail::caster<To, From>::go(x);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_CAST_HPP
