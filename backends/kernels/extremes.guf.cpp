// SPDX-License-Identifier: Apache-2.0
// maximum and minimum, where a NaN wins, fmax and fmin, where it loses. Equal operands: the first;
// of two NaNs of real numbers the second.
//
// PERF  A choice by NaN, then `z < y ? y : z`, are a blend and one max of x86; one choice by both
//       conditions is what compilers make of any other wording. In a fold x is what came before,
//       so it is their latency that counts.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"

namespace standard {

// PERF  From sm_90 on ptxas joins the extremes of 16-bit integers in pairs; packing the operands of
//       a row takes 64 registers and the stack. Words stay apart, in 48. The numbers lie in their
//       upper halves, for what clang sees to be sixteen bits it narrows.
template <class T>
struct is_paired {
#if defined(GUF_CUDA)
  static constexpr bool value =
      guf::is_same<T, guf::i16>::value || guf::is_same<T, guf::u16>::value;
#else
  static constexpr bool value = false;
#endif
};
template <class T>
GUF_DEVICE auto lifted(T x) {
  typedef typename guf::conditional<guf::limits<T>::is_signed, guf::i32, guf::u32>::type word;
  return (word)((guf::u32)(guf::u16)x << 16);
}
template <class Word>
GUF_DEVICE guf::u16 lowered(Word x) {
  return (guf::u16)((guf::u32)x >> 16);
}

template <class T>
GUF_DEVICE T maximum(T x, T y) {
  if constexpr (guf::is_float<T>::value) {
    const T z = y != y ? y : x;
    return z < y ? y : z;
  } else if constexpr (is_paired<T>::value) {
    return (T)lowered(maximum(lifted(x), lifted(y)));
  } else {
    return choose(is_less_equal(y, x) || has_nan(x), x, y);
  }
}
template <class T>
GUF_DEVICE T minimum(T x, T y) {
  if constexpr (guf::is_float<T>::value) {
    const T z = y != y ? y : x;
    return y < z ? y : z;
  } else if constexpr (is_paired<T>::value) {
    return (T)lowered(minimum(lifted(x), lifted(y)));
  } else {
    return choose(is_less_equal(x, y) || has_nan(x), x, y);
  }
}
template <class T>
GUF_DEVICE T fmax(T x, T y) {
  if constexpr (guf::is_float<T>::value) {
    const T z = x != x ? y : x;
    return z < y ? y : z;
  } else if constexpr (is_paired<T>::value) {
    return (T)lowered(fmax(lifted(x), lifted(y)));
  } else {
    return choose(is_less_equal(y, x) || has_nan(y), x, y);
  }
}
template <class T>
GUF_DEVICE T fmin(T x, T y) {
  if constexpr (guf::is_float<T>::value) {
    const T z = x != x ? y : x;
    return y < z ? y : z;
  } else if constexpr (is_paired<T>::value) {
    return (T)lowered(fmin(lifted(x), lifted(y)));
  } else {
    return choose(is_less_equal(x, y) || has_nan(y), x, y);
  }
}

}  // namespace standard

GUF_UFUNC(standard::maximum, GUF_LOOPS_maximum, "commutative", "associative");
GUF_UFUNC(standard::minimum, GUF_LOOPS_minimum, "commutative", "associative");
GUF_UFUNC(standard::fmax, GUF_LOOPS_fmax, "commutative", "associative");
GUF_UFUNC(standard::fmin, GUF_LOOPS_fmin, "commutative", "associative");
