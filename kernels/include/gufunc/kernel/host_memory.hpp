// SPDX-License-Identifier: Apache-2.0
// Access to elements in host loops. Scalars may be at any address. Complex numbers are accessed
// part by part, because copying a struct would hide the accesses from the vectoriser.
#ifndef GUFUNC_KERNEL_HOST_MEMORY_HPP
#define GUFUNC_KERNEL_HOST_MEMORY_HPP

#include "time.hpp"
#include "types.hpp"

namespace guf {
namespace host {

// A T at an address that may be unaligned.
template <class T>
struct __attribute__((packed, may_alias)) unaligned {
  T value;
};

template <class T, bool stored_float = is_stored_float<T>::value>
struct memory {
  static GUF_FN T load(const char *p) { return ((const unaligned<T> *)p)->value; }
  static GUF_FN void store(char *p, T x) { ((unaligned<T> *)p)->value = x; }
};
template <class T>
struct memory<complex<T>, false> {
  static GUF_FN complex<T> load(const char *p) {
    return complex<T>(memory<T>::load(p), memory<T>::load(p + sizeof(T)));
  }
  static GUF_FN void store(char *p, complex<T> x) {
    memory<T>::store(p, x.re);
    memory<T>::store(p + sizeof(T), x.im);
  }
};
template <>
struct memory<b8> {
  static GUF_FN b8 load(const char *p) { return b8{memory<u8>::load(p)}; }
  static GUF_FN void store(char *p, b8 x) { memory<u8>::store(p, x.byte); }
};
template <class T>
struct memory<T, true> {
  typedef decltype(T::bits) word;
  static GUF_FN T load(const char *p) { return T{memory<word>::load(p)}; }
  static GUF_FN void store(char *p, T x) { memory<word>::store(p, x.bits); }
};
template <>
struct memory<datetime> {
  static GUF_FN datetime load(const char *p) { return datetime{memory<i64>::load(p)}; }
  static GUF_FN void store(char *p, datetime x) { memory<i64>::store(p, x.value); }
};
template <>
struct memory<timedelta> {
  static GUF_FN timedelta load(const char *p) { return timedelta{memory<i64>::load(p)}; }
  static GUF_FN void store(char *p, timedelta x) { memory<i64>::store(p, x.value); }
};

// Whether none of the types is a struct. The compiler may place a struct, such as a complex number,
// on the stack, where all iterations of a loop share it. A loop over structs must not promise
// independent iterations: with the promise, clang 19 computed a wrong result for `c ? x : y` of two
// complex numbers.
template <class... Value>
GUF_FN constexpr bool all_scalars() {
  return !(__is_class(Value) || ...);
}

// An input or output of a loop: get(i) and put(i, x) access its element i.
template <class T>
struct packed_input {
  const char *base;
  GUF_FN value_t<T> get(i64 i) const {
    return cast<value_t<T>>(memory<T>::load(base + i * (i64)sizeof(T)));
  }
};
template <class T>
struct scalar_input {
  value_t<T> value;
  GUF_FN value_t<T> get(i64) const { return value; }
};
template <class T>
struct packed_output {
  typedef value_t<T> value;
  char *base;
  template <class V>
  GUF_FN void put(i64 i, V x) const {
    memory<T>::store(base + i * (i64)sizeof(T), cast<T>(x));
  }
};
}  // namespace host
}  // namespace guf

#endif  // GUFUNC_KERNEL_HOST_MEMORY_HPP
