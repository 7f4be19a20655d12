// SPDX-License-Identifier: Apache-2.0
// Conversion of elements of any form to the types of a method's loop and back.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP

#include "device_fold_block.hpp"

namespace guf {
namespace device {

// Reads an element in memory as a T. An element that already is a T is read directly.
template <class T>
GUF_DEVICE_ONLY T fetch(u64 address, u32 form) {
  if ((form & kFormLoopType) != 0) return *(const T *)address;
  return load_form<T>((const char *)address, form);
}
template <class T>
GUF_DEVICE_ONLY void put(u64 address, u32 form, T x) {
  if ((form & kFormLoopType) != 0) {
    *(T *)address = x;
  } else {
    store_form<T>((char *)address, form, x);
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_FORM_HPP
