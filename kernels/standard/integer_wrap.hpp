// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that wraps, as in NumPy. It uses unsigned types of at least 32 bits,
// because signed overflow is undefined and because two u16 are multiplied as int.
#ifndef GUFUNC_KERNELS_STANDARD_INTEGER_WRAP_HPP
#define GUFUNC_KERNELS_STANDARD_INTEGER_WRAP_HPP

#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
struct wrapping {
  typedef T type;  // floating-point and complex types are unchanged
};
#define GUF_WRAPPING(T, WIDE) \
  template <>                 \
  struct wrapping<T> {        \
    typedef WIDE type;        \
  };
GUF_WRAPPING(guf::i8, guf::u32)
GUF_WRAPPING(guf::u8, guf::u32)
GUF_WRAPPING(guf::i16, guf::u32)
GUF_WRAPPING(guf::u16, guf::u32)
GUF_WRAPPING(guf::i32, guf::u32)
GUF_WRAPPING(guf::u32, guf::u32)
GUF_WRAPPING(guf::i64, guf::u64)
GUF_WRAPPING(guf::u64, guf::u64)
// Values of bool are combined as numbers.
GUF_WRAPPING(bool, guf::u32)
#undef GUF_WRAPPING

template <class T>
using wrapping_t = typename wrapping<T>::type;

template <class T>
struct is_integer {
  static constexpr bool value = false;
};
#define GUF_INTEGER(T)                  \
  template <>                           \
  struct is_integer<T> {                \
    static constexpr bool value = true; \
  };
GUF_INTEGER(guf::i8)
GUF_INTEGER(guf::u8)
GUF_INTEGER(guf::i16)
GUF_INTEGER(guf::u16)
GUF_INTEGER(guf::i32)
GUF_INTEGER(guf::u32)
GUF_INTEGER(guf::i64)
GUF_INTEGER(guf::u64)
#undef GUF_INTEGER

// Returns the low bits of -x as a T. For signed types this is a reduction modulo 2^bits,
// which all supported compilers define.
template <class T>
GUF_DEVICE T negated(T x) {
  if constexpr (is_integer<T>::value) {
    return (T)(wrapping_t<T>(0) - (wrapping_t<T>)x);
  } else {
    return -x;
  }
}

// Returns |x|, which an unsigned type holds for every x.
template <class T>
GUF_DEVICE wrapping_t<T> unsigned_magnitude(T x) {
  const wrapping_t<T> bits = (wrapping_t<T>)x;
  return x < T(0) ? wrapping_t<T>(0) - bits : bits;
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_INTEGER_WRAP_HPP
