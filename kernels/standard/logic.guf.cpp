// SPDX-License-Identifier: Apache-2.0
// Truth values of numbers, where nonzero numbers and NaN are true,
// and bitwise operations on integers.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

template <class T>
GUF_DEVICE bool truth(T x) {
  return guf::cast<bool>(x);
}

template <class T>
GUF_DEVICE bool logical_and(T x, T y) {
  return truth(x) && truth(y);
}
template <class T>
GUF_DEVICE bool logical_or(T x, T y) {
  return truth(x) || truth(y);
}
template <class T>
GUF_DEVICE bool logical_xor(T x, T y) {
  return truth(x) != truth(y);
}
template <class T>
GUF_DEVICE bool logical_not(T x) {
  return !truth(x);
}

template <class T>
GUF_DEVICE T bitwise_and(T x, T y) {
  return (T)((wrapping_t<T>)x & (wrapping_t<T>)y);
}
template <class T>
GUF_DEVICE T bitwise_or(T x, T y) {
  return (T)((wrapping_t<T>)x | (wrapping_t<T>)y);
}
template <class T>
GUF_DEVICE T bitwise_xor(T x, T y) {
  return (T)((wrapping_t<T>)x ^ (wrapping_t<T>)y);
}
template <class T>
GUF_DEVICE T invert(T x) {
  if constexpr (guf::is_same<T, bool>::value) {
    return !x;
  } else {
    return (T) ~(wrapping_t<T>)x;
  }
}

// Counts the bits of |x|. The absolute value of the most negative integer has one bit.
template <class T>
GUF_DEVICE guf::u8 bitwise_count(T x) {
  const wrapping_t<T> bits = unsigned_magnitude(x);
  if constexpr (sizeof(T) == 8) {
    return (guf::u8)__builtin_popcountll(bits);
  } else {
    return (guf::u8)__builtin_popcount(bits);
  }
}

// Every shift count is valid. If the count is negative or at least the width of T, the result is 0.
// The code compares unsigned numbers, so a negative count is larger than the width.
template <class T>
GUF_DEVICE T left_shift(T x, T count) {
  const wrapping_t<T> bits = 8 * sizeof(T), by = (wrapping_t<T>)count;
  return by < bits ? (T)((wrapping_t<T>)x << by) : (T)0;
}
// Shifts in copies of the sign bit. If the count is negative or at least the width of T, the result
// is 0, or -1 for a negative x.
template <class T>
GUF_DEVICE T right_shift(T x, T count) {
  const wrapping_t<T> bits = 8 * sizeof(T), by = (wrapping_t<T>)count;
  return by < bits ? (T)(x >> by) : (T)(x >> (bits - 1) >> 1);
}

}  // namespace standard

GUF_UFUNC(standard::logical_and, GUF_LOOPS_logical_and, "commutative", "associative");
GUF_UFUNC(standard::logical_or, GUF_LOOPS_logical_or, "commutative", "associative");
GUF_UFUNC(standard::logical_xor, GUF_LOOPS_logical_xor, "commutative", "associative");
GUF_UFUNC(standard::logical_not, GUF_LOOPS_logical_not);
GUF_UFUNC(standard::bitwise_and, GUF_LOOPS_bitwise_and, "commutative", "associative");
GUF_UFUNC(standard::bitwise_or, GUF_LOOPS_bitwise_or, "commutative", "associative");
GUF_UFUNC(standard::bitwise_xor, GUF_LOOPS_bitwise_xor, "commutative", "associative");
GUF_UFUNC(standard::invert, GUF_LOOPS_invert);
GUF_UFUNC(standard::bitwise_count, GUF_LOOPS_bitwise_count);
GUF_UFUNC(standard::left_shift, GUF_LOOPS_left_shift);
GUF_UFUNC(standard::right_shift, GUF_LOOPS_right_shift);
