// SPDX-License-Identifier: Apache-2.0
// Elements whose type, byte order and alignment are known only at run time. The elements are read
// as raw words, so that several loads are in flight at once, and then recast() converts them in
// registers. recast() converts every type through a 64-bit integer or two f64, and its results have
// the bits of guf::cast. It is small, because compilers copy it into every entry even though it is
// not inlined. A separate cast for each pair of types would make each entry 20 KB larger.
#ifndef GUFUNC_KERNEL_DEVICE_FORM_HPP
#define GUFUNC_KERNEL_DEVICE_FORM_HPP

#include "device_block.hpp"
#include "time.hpp"

namespace guf {
namespace device {

// How an element is stored: kind | log2 of the unit's bytes << 4 | flags. A unit is swapped and
// aligned as a whole: a complex number consists of two units.
enum : u32 {
  kFormKind = 0xf,
  kFormUnit = 4,  // position of the two bits for the size of the unit
  kFormComplex = 1u << 6,
  kFormSwapped = 1u << 7,
  kFormUnaligned = 1u << 8,  // a unit may be at any address
  kFormImmediate = 1u << 9   // nd: the element itself, in the loop's type, instead of its address
};

enum element_kind : u32 {
#define GUF_DTYPE(NAME, ...) kKind##NAME,
#include <gufunc/dtypes.def>
  kKinds
};
static_assert(kKinds <= kFormKind + 1, "a kind fits into the bits of kFormKind");

template <class T>
struct kind_of;
#define GUF_KIND(T, KIND)              \
  template <>                          \
  struct kind_of<T> {                  \
    static constexpr u32 value = KIND; \
  };
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  GUF_KIND(element, kKind##NAME)
#include <gufunc/dtypes.def>
GUF_KIND(datetime, kKindI64)
GUF_KIND(timedelta, kKindI64)
#undef GUF_KIND

GUF_FN u32 form_bytes(u32 form) {
  return (1u << ((form >> kFormUnit) & 3u)) << ((form & kFormComplex) != 0 ? 1 : 0);
}

// The bytes of an element, the first one in the lowest bits.
struct raw_element {
  u64 lo, hi;
};

namespace detail {

GUF_FN u64 raw_bits(b8 x) {
  return x.byte;
}
GUF_FN u64 raw_bits(f32 x) {
  return guf::bit_cast<u32>(x);
}
GUF_FN u64 raw_bits(f64 x) {
  return guf::bit_cast<u64>(x);
}
GUF_FN u64 raw_bits(datetime x) {
  return (u64)x.value;
}
GUF_FN u64 raw_bits(timedelta x) {
  return (u64)x.value;
}
// Returns the bits of a floating-point storage type or an integer. Callers ignore the bits above
// the width of the type.
template <class T>
GUF_FN u64 raw_bits(T x) {
  if constexpr (is_stored_float<T>::value) {
    return x.bits;
  } else {
    return (u64)x;
  }
}

template <class T>
struct raw_value {
  static GUF_FN T of(raw_element x) {
    if constexpr (is_stored_float<T>::value) {
      return T{(decltype(T::bits))x.lo};
    } else {
      return (T)x.lo;
    }
  }
};
template <>
struct raw_value<b8> {
  static GUF_FN b8 of(raw_element x) { return b8{(u8)x.lo}; }
};
template <>
struct raw_value<f32> {
  static GUF_FN f32 of(raw_element x) { return guf::bit_cast<f32>((u32)x.lo); }
};
template <>
struct raw_value<f64> {
  static GUF_FN f64 of(raw_element x) { return guf::bit_cast<f64>(x.lo); }
};
template <>
struct raw_value<c64> {
  static GUF_FN c64 of(raw_element x) {
    return c64(guf::bit_cast<f32>((u32)x.lo), guf::bit_cast<f32>((u32)(x.lo >> 32)));
  }
};
template <>
struct raw_value<c128> {
  static GUF_FN c128 of(raw_element x) {
    return c128(guf::bit_cast<f64>(x.lo), guf::bit_cast<f64>(x.hi));
  }
};
template <>
struct raw_value<datetime> {
  static GUF_FN datetime of(raw_element x) { return datetime{(i64)x.lo}; }
};
template <>
struct raw_value<timedelta> {
  static GUF_FN timedelta of(raw_element x) { return timedelta{(i64)x.lo}; }
};

}  // namespace detail

template <class T>
GUF_FN T from_raw(raw_element x) {
  return detail::raw_value<T>::of(x);
}
template <class T>
GUF_FN raw_element to_raw(T x) {
  return {detail::raw_bits(x), 0};
}
template <>
GUF_FN raw_element to_raw<c64>(c64 x) {
  return {(u64)guf::bit_cast<u32>(x.re) | (u64)guf::bit_cast<u32>(x.im) << 32, 0};
}
template <>
GUF_FN raw_element to_raw<c128>(c128 x) {
  return {guf::bit_cast<u64>(x.re), guf::bit_cast<u64>(x.im)};
}

namespace detail {

template <class Word>
GUF_FN Word bytes_reversed(Word x) {
  Word result = 0;
  for (int i = 0; i < (int)sizeof(Word); ++i) {
    result = (Word)(result << 8 | (x & 0xff));
    x = (Word)(x >> 8);
  }
  return result;
}
GUF_FN u64 swapped_unit(u64 x, u32 log2_bytes) {
  if (log2_bytes == 1) return bytes_reversed((u16)x);
  if (log2_bytes == 2) return bytes_reversed((u32)x);
  return log2_bytes == 3 ? bytes_reversed(x) : x;
}

// Reverses the bytes of each unit if the form requires it.
GUF_FN raw_element in_order(u32 form, raw_element x) {
  if ((form & kFormSwapped) == 0) return x;
  const u32 log2_bytes = (form >> kFormUnit) & 3u;
  if ((form & kFormComplex) == 0) return {swapped_unit(x.lo, log2_bytes), 0};
  if (log2_bytes == 3) return {bytes_reversed(x.lo), bytes_reversed(x.hi)};
  return {(u64)bytes_reversed((u32)x.lo) | (u64)bytes_reversed((u32)(x.lo >> 32)) << 32, 0};
}

// Intermediate form of every type: an integer of 64 bits, signed or unsigned, or a complex number
// of two f64.
struct wide_element {
  bool integer, is_unsigned;
  u64 bits;
  f64 re, im;
};

GUF_FN u32 integer_bits(u32 kind) {
  return 8u << ((kind - kKindI8) / 2);
}
GUF_FN bool is_unsigned(u32 kind) {
  return ((kind - kKindI8) & 1u) != 0;
}

GUF_FN wide_element widened(u32 kind, raw_element x) {
  if (kind == kKindBOOL) return {true, false, (x.lo & 0xff) != 0 ? 1u : 0u, 0, 0};
  if (kind <= kKindU64) {
    const u32 above = 64 - integer_bits(kind);
    const u64 top = x.lo << above;
    const u64 bits = is_unsigned(kind) ? top >> above : (u64)((i64)top >> above);
    return {true, kind == kKindU64, bits, 0, 0};
  }
  if (kind == kKindF16) return {false, false, 0, (f64)to_f32(from_raw<f16>(x)), 0};
  if (kind == kKindBF16) return {false, false, 0, (f64)to_f32(from_raw<bf16>(x)), 0};
  if (kind == kKindF64 || kind == kKindC128) {
    const f64 im = kind == kKindC128 ? bit_cast<f64>(x.hi) : 0.0;
    return {false, false, 0, bit_cast<f64>(x.lo), im};
  }
  const f32 im = kind == kKindC64 ? bit_cast<f32>((u32)(x.lo >> 32)) : 0.0f;
  return {false, false, 0, (f64)bit_cast<f32>((u32)x.lo), (f64)im};
}

// Converts to an integer type. A floating-point number saturates. For an integer, all 64 bits are
// returned, and the caller stores the low bits.
GUF_FN u64 to_integer(u32 kind, wide_element x) {
  if (x.integer) return x.bits;
  if (kind == kKindU64) return cast<u64>(x.re);
  const i64 value = cast<i64>(x.re);
  if (kind == kKindI64) return (u64)value;
  const u32 digits = integer_bits(kind) - (is_unsigned(kind) ? 0u : 1u);
  const i64 most = ((i64)1 << digits) - 1;
  const i64 least = is_unsigned(kind) ? 0 : -most - 1;
  return (u64)(value < least ? least : value > most ? most : value);
}

// Converts to f64. `exact` must be false if the caller rounds the result again, to a type with less
// precision than f64. An integer then becomes an f64 that rounds to the same result as the integer.
GUF_FN f64 to_number(wide_element x, bool exact) {
  if (!x.integer) return x.re;
  if (x.is_unsigned) return exact ? (f64)x.bits : guf::detail::integer_to_sticky_f64<u64>(x.bits);
  return exact ? (f64)(i64)x.bits : guf::detail::integer_to_sticky_f64<i64>((i64)x.bits);
}

GUF_FN raw_element narrowed(u32 kind, wide_element x) {
  if (kind == kKindBOOL) {
    const bool is = x.integer ? x.bits != 0 : x.re != 0 || x.im != 0;
    return {is ? 1u : 0u, 0};
  }
  if (kind <= kKindU64) return {to_integer(kind, x), 0};
  const f64 re = to_number(x, kind == kKindF64 || kind == kKindC128);
  if (kind == kKindF64) return {bit_cast<u64>(re), 0};
  if (kind == kKindC128) return {bit_cast<u64>(re), bit_cast<u64>(x.im)};
  if (kind == kKindF16) return {to_f16(guf::detail::f64_to_odd_f32(re)).bits, 0};
  if (kind == kKindBF16) return {to_bf16(guf::detail::f64_to_odd_f32(re)).bits, 0};
  const u64 low = bit_cast<u32>((f32)re);
  if (kind == kKindF32) return {low, 0};
  return {low | (u64)bit_cast<u32>((f32)x.im) << 32, 0};
}

GUF_FN raw_element recast_kind(u32 from, u32 to, raw_element x) {
  if (from == to) return x;
  return narrowed(to, widened(from, x));
}

GUF_FN raw_element recast_form(u32 from, u32 to, raw_element x) {
  const raw_element ordered = in_order(from, x);
  return in_order(to, recast_kind(from & kFormKind, to & kFormKind, ordered));
}

}  // namespace detail

// Converts an element between two forms, as guf::cast does.
GUF_DEVICE_NOINLINE raw_element recast(u32 from, u32 to, raw_element x) {
  return detail::recast_form(from, to, x);
}

// Loads K elements at separate addresses as raw bytes; all loads are in flight at once.
template <int K>
GUF_DEVICE_ONLY void load_raw(raw_element *to, const char *const *from, u32 form) {
#define GUF_LOAD_RAW(LO, HI)                                                  \
  GUF_UNROLL                                                                  \
  for (int k = 0; k < K; ++k) to[k] = {(u64) * (const LO *)from[k], (u64)HI}; \
  return
  switch (form & (kFormUnaligned | kFormComplex | 3u << kFormUnit)) {
    case 0:
      GUF_LOAD_RAW(u8, 0);
    case 1 << kFormUnit:
      GUF_LOAD_RAW(u16, 0);
    case 2 << kFormUnit:
      GUF_LOAD_RAW(u32, 0);
    case 3 << kFormUnit:
      GUF_LOAD_RAW(u64, 0);
    case kFormComplex | 3 << kFormUnit:
      GUF_LOAD_RAW(u64, *(const u64 *)(from[k] + 8));
    default:
      break;
  }
#undef GUF_LOAD_RAW
  const u32 part =
      (form & kFormUnaligned) != 0 ? 1 : 4;  // in bytes; a complex<f32> is aligned to 4
  const u32 bytes = form_bytes(form);
  GUF_UNROLL
  for (int k = 0; k < K; ++k) to[k] = {0, 0};
  GUF_NO_UNROLL
  for (u32 i = 0; i < bytes; i += part) {
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const char *const at = from[k] + i;
      const u64 bits = (u64)(part == 1 ? *(const u8 *)at : *(const u32 *)at) << (8 * (i & 7u));
      to[k].lo |= i < 8 ? bits : 0;
      to[k].hi |= i < 8 ? 0 : bits;
    }
  }
}

// Stores K elements as raw bytes, except the elements k for which live[k] is false.
template <int K>
GUF_DEVICE_ONLY void store_raw(char *const *to, const raw_element *from, const bool *live,
                               u32 form) {
#define GUF_STORE_RAW(LO, HI)        \
  GUF_UNROLL                         \
  for (int k = 0; k < K; ++k) {      \
    if (live[k]) {                   \
      *(LO *)to[k] = (LO)from[k].lo; \
      HI;                            \
    }                                \
  }                                  \
  return
  switch (form & (kFormUnaligned | kFormComplex | 3u << kFormUnit)) {
    case 0:
      GUF_STORE_RAW(u8, );
    case 1 << kFormUnit:
      GUF_STORE_RAW(u16, );
    case 2 << kFormUnit:
      GUF_STORE_RAW(u32, );
    case 3 << kFormUnit:
      GUF_STORE_RAW(u64, );
    case kFormComplex | 3 << kFormUnit:
      GUF_STORE_RAW(u64, *(u64 *)(to[k] + 8) = from[k].hi);
    default:
      break;
  }
#undef GUF_STORE_RAW
  const u32 part = (form & kFormUnaligned) != 0 ? 1 : 4;
  const u32 bytes = form_bytes(form);
  GUF_NO_UNROLL
  for (u32 i = 0; i < bytes; i += part) {
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const u64 bits = (i < 8 ? from[k].lo : from[k].hi) >> (8 * (i & 7u));
      if (live[k] && part == 1) *(u8 *)(to[k] + i) = (u8)bits;
      if (live[k] && part != 1) *(u32 *)(to[k] + i) = (u32)bits;
    }
  }
}

// load_as reads one element of any form as an element of `kind`, and store_as writes an element of
// `kind` as an element of any form. Like recast(), they are not inlined. An entry contains one copy
// of the conversion for loads and one for stores.
GUF_DEVICE_NOINLINE raw_element load_as(u32 kind, const char *from, u32 form) {
  raw_element x;
  load_raw<1>(&x, &from, form);
  return detail::recast_form(form, kind, x);
}
GUF_DEVICE_NOINLINE void store_as(u32 kind, char *to, u32 form, raw_element x) {
  const bool live = true;
  x = detail::recast_form(kind, form, x);
  store_raw<1>(&to, &x, &live, form);
}

// load_form reads one element of any form as a T, and store_form writes a T as an element of any
// form.
template <class T>
GUF_DEVICE_ONLY T load_form(const char *from, u32 form) {
  return from_raw<T>(load_as(kind_of<T>::value, from, form));
}
template <class T>
GUF_DEVICE_ONLY void store_form(char *to, u32 form, T value) {
  store_as(kind_of<T>::value, to, form, to_raw<T>(value));
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FORM_HPP
