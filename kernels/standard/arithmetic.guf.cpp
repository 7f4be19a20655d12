// SPDX-License-Identifier: Apache-2.0
// add, subtract, multiply, divide, copysign, heaviside, and arithmetic functions of one argument.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"
#include "number_parts.hpp"
#include "time_arithmetic.hpp"

namespace standard {

// For bool this is OR, because a nonzero sum of two bits converts to true.
template <class T>
GUF_DEVICE T add(T x, T y) {
  return (T)((wrapping_t<T>)x + (wrapping_t<T>)y);
}

template <class T>
GUF_DEVICE T subtract(T x, T y) {
  return (T)((wrapping_t<T>)x - (wrapping_t<T>)y);
}

// For bool this is AND, the product of two bits.
template <class T>
GUF_DEVICE T multiply(T x, T y) {
  return (T)((wrapping_t<T>)x * (wrapping_t<T>)y);
}

template <class T>
GUF_DEVICE T divide(T x, T y) {
  return x / y;
}

template <class T>
GUF_DEVICE T negative(T x) {
  return negated(x);
}

template <class T>
GUF_DEVICE T square(T x) {
  return multiply(x, x);
}

// The most negative integer is its own absolute value, as in NumPy.
template <class T>
GUF_DEVICE T absolute(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::fabs(x);
  } else if constexpr (guf::is_same<T, bool>::value) {
    return x;
  } else if constexpr (guf::limits<T>::is_signed) {
    return x < 0 ? negated(x) : x;
  } else {
    return x;
  }
}
template <class T>
GUF_DEVICE T absolute(guf::complex<T> z) {
  return guf::abs(z);
}

template <class T>
GUF_DEVICE T fabs(T x) {
  return guf::fabs(x);
}

template <class T>
GUF_DEVICE T positive(T x) {
  return x;
}

template <class T>
GUF_DEVICE T copysign(T x, T y) {
  return guf::copysign(x, y);
}

// Integers: 1 and -1 are their own reciprocals, and other values except 0 yield 0. The reciprocal
// of 0 is the smallest value for i32 and i64, and 0 for other types. NumPy returns the same values
// on x86, where it converts the infinite quotient 1.0 / 0 to the type.
template <class T>
GUF_DEVICE T reciprocal(T x) {
  if constexpr (is_integer<T>::value) {
    constexpr bool signed_word = sizeof(T) >= 4 && guf::limits<T>::is_signed;
    const T of_zero = signed_word ? guf::limits<T>::lowest : T(0);
    const bool unit = x == T(1) || (guf::limits<T>::is_signed && x == (T)-1);
    return x == T(0) ? of_zero : (unit ? x : T(0));
  } else {
    return T(1) / x;
  }
}
// Uses NumPy's formula, which divides by the real or the imaginary part, whichever has the larger
// magnitude.
template <class T>
GUF_DEVICE guf::complex<T> reciprocal(guf::complex<T> z) {
  const bool by_re = guf::fabs(z.im) <= guf::fabs(z.re);
  const T ratio = by_re ? z.im / z.re : z.re / z.im;
  const T scale = by_re ? z.re + z.im * ratio : z.re * ratio + z.im;
  return guf::complex<T>((by_re ? T(1) : ratio) / scale, (by_re ? -ratio : T(-1)) / scale);
}

// NaN stays NaN, and -0 becomes 0.
template <class T>
GUF_DEVICE T sign(T x) {
  if constexpr (is_integer<T>::value) {
    return (T)((x > T(0) ? 1 : 0) - (x < T(0) ? 1 : 0));
  } else {
    const T unit = x > T(0) ? T(1) : T(-1);
    return x == T(0) ? T(0) : (x != x ? x : unit);
  }
}
// Returns z / |z|, with NumPy's results for special values.
template <class T>
GUF_DEVICE guf::complex<T> sign(guf::complex<T> z) {
  const T inf = guf::limits<T>::infinity, nan = guf::limits<T>::nan;
  const T size = guf::abs(z);
  if (size != size) return guf::complex<T>(nan, nan);
  if (size == T(0)) return guf::complex<T>(T(0), T(0));
  if (size < inf) return guf::complex<T>(z.re / size, z.im / size);
  if (guf::fabs(z.re) < inf || z.re != z.re) {
    return guf::complex<T>(T(0), z.im > T(0) ? T(1) : T(-1));
  }
  if (guf::fabs(z.im) == inf) return guf::complex<T>(nan, nan);
  return guf::complex<T>(z.re > T(0) ? T(1) : T(-1), T(0));
}

template <class T>
GUF_DEVICE T heaviside(T x, T y) {
  return x != x ? x : x < T(0) ? T(0) : T(0) < x ? T(1) : y;
}

}  // namespace standard

GUF_UFUNC(standard::add, GUF_LOOPS_add, "commutative", "associative");
GUF_UFUNC(standard::subtract, GUF_LOOPS_subtract);
GUF_UFUNC(standard::multiply, GUF_LOOPS_multiply, "commutative", "associative");
GUF_UFUNC(standard::divide, GUF_LOOPS_divide);
GUF_UFUNC(standard::negative, GUF_LOOPS_negative);
GUF_UFUNC(standard::square, GUF_LOOPS_square);
GUF_UFUNC(standard::absolute, GUF_LOOPS_absolute);
GUF_UFUNC(standard::fabs, GUF_LOOPS_fabs);
GUF_UFUNC(standard::positive, GUF_LOOPS_positive);
GUF_UFUNC(standard::conjugate, GUF_LOOPS_conjugate);
GUF_UFUNC(standard::copysign, GUF_LOOPS_copysign);
GUF_UFUNC(standard::reciprocal, GUF_LOOPS_reciprocal);
GUF_UFUNC(standard::sign, GUF_LOOPS_sign);
GUF_UFUNC(standard::heaviside, GUF_LOOPS_heaviside);
