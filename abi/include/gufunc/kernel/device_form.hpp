// SPDX-License-Identifier: Apache-2.0
// Elements whose type, byte order and alignment are known at run time only. They are read as raw
// words, so that several loads are under way at once, and converted in registers by one function
// that all loops of an image share: every type goes through the narrowest of six wide ones that
// holds it, which gives the bits of guf::cast.
#ifndef GUFUNC_KERNEL_DEVICE_FORM_HPP
#define GUFUNC_KERNEL_DEVICE_FORM_HPP

#include "device_block.hpp"
#include "time.hpp"

namespace guf {
namespace device {

// How an element is stored: kind | log2 of the unit's bytes << 4 | flags. A unit is what swaps as
// one and is aligned: complex numbers are pairs.
enum : u32 {
  kFormKind = 0xf,
  kFormUnit = 4,  // shift
  kFormPair = 1u << 6,
  kFormSwapped = 1u << 7,
  kFormLoose = 1u << 8  // not aligned
};

enum element_kind : u32 {
  kKindBool,
  kKindI8,
  kKindU8,
  kKindI16,
  kKindU16,
  kKindI32,
  kKindU32,
  kKindI64,
  kKindU64,
  kKindF16,
  kKindBF16,
  kKindF32,
  kKindF64,
  kKindC64,
  kKindC128,
  kKinds
};

template <class T>
struct kind_of;
#define GUF_KIND(T, KIND)              \
  template <>                          \
  struct kind_of<T> {                  \
    static constexpr u32 value = KIND; \
  };
GUF_KIND(b8, kKindBool)
GUF_KIND(i8, kKindI8)
GUF_KIND(u8, kKindU8)
GUF_KIND(i16, kKindI16)
GUF_KIND(u16, kKindU16)
GUF_KIND(i32, kKindI32)
GUF_KIND(u32, kKindU32)
GUF_KIND(i64, kKindI64)
GUF_KIND(u64, kKindU64)
GUF_KIND(f16, kKindF16)
GUF_KIND(bf16, kKindBF16)
GUF_KIND(f32, kKindF32)
GUF_KIND(f64, kKindF64)
GUF_KIND(c64, kKindC64)
GUF_KIND(c128, kKindC128)
GUF_KIND(datetime, kKindI64)
GUF_KIND(timedelta, kKindI64)
#undef GUF_KIND

// An element's bytes, the first in the lowest bits.
struct raw_element {
  u64 lo, hi;
};

namespace detail {

GUF_FN u64 raw_bits(b8 x) {
  return x.byte;
}
GUF_FN u64 raw_bits(f16 x) {
  return x.bits;
}
GUF_FN u64 raw_bits(bf16 x) {
  return x.bits;
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
// Integers; bits above the type's own are not looked at.
template <class T>
GUF_FN u64 raw_bits(T x) {
  return (u64)x;
}

template <class T>
struct raw_value {
  static GUF_FN T of(raw_element x) { return (T)x.lo; }
};
template <>
struct raw_value<b8> {
  static GUF_FN b8 of(raw_element x) { return b8{(u8)x.lo}; }
};
template <>
struct raw_value<f16> {
  static GUF_FN f16 of(raw_element x) { return f16{(u16)x.lo}; }
};
template <>
struct raw_value<bf16> {
  static GUF_FN bf16 of(raw_element x) { return bf16{(u16)x.lo}; }
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

template <class Wide>
GUF_FN raw_element narrowed(u32 kind, Wide x) {
  switch (kind) {
    case kKindBool:
      return to_raw(cast<b8>(x));
    case kKindI8:
      return to_raw(cast<i8>(x));
    case kKindU8:
      return to_raw(cast<u8>(x));
    case kKindI16:
      return to_raw(cast<i16>(x));
    case kKindU16:
      return to_raw(cast<u16>(x));
    case kKindI32:
      return to_raw(cast<i32>(x));
    case kKindU32:
      return to_raw(cast<u32>(x));
    case kKindI64:
      return to_raw(cast<i64>(x));
    case kKindU64:
      return to_raw(cast<u64>(x));
    case kKindF16:
      return to_raw(cast<f16>(x));
    case kKindBF16:
      return to_raw(cast<bf16>(x));
    case kKindF32:
      return to_raw(cast<f32>(x));
    case kKindF64:
      return to_raw(cast<f64>(x));
    case kKindC64:
      return to_raw(cast<c64>(x));
    default:
      return to_raw(cast<c128>(x));
  }
}

// The narrow integers as i64.
GUF_FN i64 widened(u32 kind, u64 bits) {
  switch (kind) {
    case kKindBool:
      return (bits & 0xff) != 0 ? 1 : 0;
    case kKindI8:
      return (i8)bits;
    case kKindU8:
      return (u8)bits;
    case kKindI16:
      return (i16)bits;
    case kKindU16:
      return (u16)bits;
    case kKindI32:
      return (i32)bits;
    case kKindU32:
      return (i64)(u32)bits;
    default:
      return (i64)bits;
  }
}

}  // namespace detail

// An element of one kind as one of another, as guf::cast.
GUF_DEVICE_NOINLINE raw_element recast(u32 from, u32 to, raw_element x) {
  if (from == to) return x;
  switch (from) {
    case kKindU64:
      return detail::narrowed<u64>(to, x.lo);
    case kKindF16:
      return detail::narrowed<f32>(to, to_f32(from_raw<f16>(x)));
    case kKindBF16:
      return detail::narrowed<f32>(to, to_f32(from_raw<bf16>(x)));
    case kKindF32:
      return detail::narrowed<f32>(to, from_raw<f32>(x));
    case kKindF64:
      return detail::narrowed<f64>(to, from_raw<f64>(x));
    case kKindC64:
      return detail::narrowed<c64>(to, from_raw<c64>(x));
    case kKindC128:
      return detail::narrowed<c128>(to, from_raw<c128>(x));
    default:
      return detail::narrowed<i64>(to, detail::widened(from, x.lo));
  }
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

GUF_DEVICE_ONLY u64 load_unit(const char *from, u32 form) {
  const u32 log2_bytes = (form >> kFormUnit) & 3u;
  u64 x = 0;
  if ((form & kFormLoose) != 0) {
    GUF_NO_UNROLL
    for (u32 i = 0; i < 1u << log2_bytes; ++i) x |= (u64)((const u8 *)from)[i] << (8 * i);
  } else if (log2_bytes == 0) {
    x = *(const u8 *)from;
  } else if (log2_bytes == 1) {
    x = *(const u16 *)from;
  } else if (log2_bytes == 2) {
    x = *(const u32 *)from;
  } else {
    x = *(const u64 *)from;
  }
  return (form & kFormSwapped) != 0 ? swapped_unit(x, log2_bytes) : x;
}

GUF_DEVICE_ONLY void store_unit(char *to, u32 form, u64 x) {
  const u32 log2_bytes = (form >> kFormUnit) & 3u;
  if ((form & kFormSwapped) != 0) x = swapped_unit(x, log2_bytes);
  if ((form & kFormLoose) != 0) {
    GUF_NO_UNROLL
    for (u32 i = 0; i < 1u << log2_bytes; ++i) ((u8 *)to)[i] = (u8)(x >> (8 * i));
  } else if (log2_bytes == 0) {
    *(u8 *)to = (u8)x;
  } else if (log2_bytes == 1) {
    *(u16 *)to = (u16)x;
  } else if (log2_bytes == 2) {
    *(u32 *)to = (u32)x;
  } else {
    *(u64 *)to = x;
  }
}

}  // namespace detail

GUF_DEVICE_ONLY raw_element load_raw(const char *from, u32 form) {
  raw_element x = {detail::load_unit(from, form), 0};
  if ((form & kFormPair) == 0) return x;
  const u32 bytes = 1u << ((form >> kFormUnit) & 3u);
  const u64 second = detail::load_unit(from + bytes, form);
  if (bytes == 8) {
    x.hi = second;
  } else {
    x.lo |= second << 32;
  }
  return x;
}
GUF_DEVICE_ONLY void store_raw(char *to, u32 form, raw_element x) {
  detail::store_unit(to, form, x.lo);
  if ((form & kFormPair) == 0) return;
  const u32 bytes = 1u << ((form >> kFormUnit) & 3u);
  detail::store_unit(to + bytes, form, bytes == 8 ? x.hi : x.lo >> 32);
}

// Element of any form as a T, and back.
template <class T>
GUF_DEVICE_ONLY T load_form(const char *from, u32 form) {
  return from_raw<T>(recast(form & kFormKind, kind_of<T>::value, load_raw(from, form)));
}
template <class T>
GUF_DEVICE_ONLY void store_form(char *to, u32 form, T value) {
  store_raw(to, form, recast(kind_of<T>::value, form & kFormKind, to_raw<T>(value)));
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FORM_HPP
