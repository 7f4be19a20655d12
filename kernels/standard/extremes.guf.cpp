// SPDX-License-Identifier: Apache-2.0
// maximum and minimum, which propagate NaN, and fmax and fmin, which ignore NaN. If the operands
// are equal, the result is the first operand. If both operands are NaN and not complex, the result
// is the second operand.
//
// PERF  On x86, two selections, the first by a test for NaN and the second `z < y ? y : z`,
//       compile to a blend and one max instruction. From any other formulation, compilers make one
//       selection by both conditions, which is slower.
//       In a reduction, x is the previous result, so the latency of these instructions matters.
#include <gufunc/ops_loops.h>

#include "complex_order.hpp"

namespace standard {

// PERF  From sm_90 on, ptxas combines minima and maxima of 16-bit integers in pairs. To pack the
//       operands of the entry `row` into pairs, it uses 64 registers and stack memory. Operations
//       on 32-bit words are not combined and need only 48 registers. The numbers are stored in the
//       upper halves of the words, because clang narrows values if it can prove that they fit in 16
//       bits.
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
