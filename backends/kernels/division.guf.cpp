// SPDX-License-Identifier: Apache-2.0
// floor_divide and remainder: the remainder has the divisor's sign. A zero divisor gives 0 for
// integers; the least integer divided by -1 is itself, with remainder 0.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

template <class T>
GUF_DEVICE T floor_divide(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::floor_divide(x, y);
  } else if constexpr (!guf::limits<T>::is_signed) {
    return y == T(0) ? T(0) : (T)(x / y);
  } else {
    if (y == T(0)) return T(0);
    if (y == T(-1)) return negated(x);  // the one quotient that may not fit
    const T quotient = (T)(x / y);
    const bool inexact = (T)(quotient * y) != x;
    return (T)(quotient - (inexact && (x < T(0)) != (y < T(0)) ? 1 : 0));
  }
}

template <class T>
GUF_DEVICE T remainder(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::floor_modulo(x, y);
  } else if constexpr (!guf::limits<T>::is_signed) {
    return y == T(0) ? T(0) : (T)(x % y);
  } else {
    if (y == T(0) || y == T(-1)) return T(0);
    const T rest = (T)(x % y);
    return (T)(rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest);
  }
}

}  // namespace standard

GUF_UFUNC(standard::floor_divide, GUF_LOOPS_floor_divide);
GUF_UFUNC(standard::remainder, GUF_LOOPS_remainder);
