// SPDX-License-Identifier: Apache-2.0
// Conversion of elements of any form to the types of a method's loop and back. The functions are
// not inlined, because an entry calls them in several places.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP

#include "device_fold_block.hpp"

namespace guf {
namespace device {
namespace detail {

template <class T>
GUF_DEVICE_NOINLINE T fetch_form(const char *from, u32 form) {
  return load_form<T>(from, form);
}
template <class T>
GUF_DEVICE_NOINLINE void put_form(char *to, u32 form, T x) {
  store_form<T>(to, form, x);
}

}  // namespace detail

// Reads an element in memory as a T. An element that already is a T is read directly.
template <class T>
GUF_DEVICE_ONLY T fetch(u64 address, u32 form) {
  if ((form & kFormLoopType) != 0) return *(const T *)address;
  return detail::fetch_form<T>((const char *)address, form);
}
template <class T>
GUF_DEVICE_ONLY void put(u64 address, u32 form, T x) {
  if ((form & kFormLoopType) != 0) {
    *(T *)address = x;
  } else {
    detail::put_form<T>((char *)address, form, x);
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP
