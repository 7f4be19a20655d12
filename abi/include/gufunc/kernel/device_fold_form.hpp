// SPDX-License-Identifier: Apache-2.0
// Elements of any form as those of one type, and back. The entries of methods have one type each:
// half a table of all casts is a tenth of `recast`, which drivers' compilers copy into every entry.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP

#include "device_fold_block.hpp"

namespace guf {
namespace device {
namespace detail {

// f(K()) for the type K of a kind.
template <class F>
GUF_FN auto with_kind(u32 kind, F f) {
  switch (kind) {
    case kKindBool:
      return f(b8());
    case kKindI8:
      return f(i8());
    case kKindU8:
      return f(u8());
    case kKindI16:
      return f(i16());
    case kKindU16:
      return f(u16());
    case kKindI32:
      return f(i32());
    case kKindU32:
      return f(u32());
    case kKindI64:
      return f(i64());
    case kKindU64:
      return f(u64());
    case kKindF16:
      return f(f16());
    case kKindBF16:
      return f(bf16());
    case kKindF32:
      return f(f32());
    case kKindF64:
      return f(f64());
    case kKindC64:
      return f(c64());
    default:
      return f(c128());
  }
}

template <class T>
GUF_DEVICE_NOINLINE T fetch_form(const char *from, u32 form) {
  const raw_element raw = load_raw(from, form);
  if constexpr (is_time<T>::value) {
    return from_raw<T>(raw);  // of the loop's unit: others are converted before
  } else {
    return with_kind(form & kFormKind,
                     [raw](auto k) { return cast<T>(from_raw<decltype(k)>(raw)); });
  }
}

template <class T>
GUF_DEVICE_NOINLINE void put_form(char *to, u32 form, T x) {
  if constexpr (is_time<T>::value) {
    store_raw(to, form, to_raw(x));
  } else {
    store_raw(to, form,
              with_kind(form & kFormKind, [x](auto k) { return to_raw(cast<decltype(k)>(x)); }));
  }
}

}  // namespace detail

// An element of memory as a T; what is a T there already is read where it stands.
template <class T>
GUF_DEVICE_ONLY T fetch(u64 address, u32 form) {
  if ((form & kFormOwn) != 0) return *(const T *)address;
  return detail::fetch_form<T>((const char *)address, form);
}
template <class T>
GUF_DEVICE_ONLY void put(u64 address, u32 form, T x) {
  if ((form & kFormOwn) != 0) {
    *(T *)address = x;
  } else {
    detail::put_form<T>((char *)address, form, x);
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP
