// SPDX-License-Identifier: Apache-2.0
// floor_divide and remainder. The remainder has the sign of the divisor. For integers,
// a division by zero yields 0. The smallest integer divided by -1 is itself, with the remainder 0.
#include <gufunc/ops_loops.h>

#include "integer_divide.hpp"
#include "time_arithmetic.hpp"

namespace standard {

#if defined(GUF_HOST)
constexpr bool kByInverse = true;
#else
constexpr bool kByInverse = false;
#endif

template <class T>
GUF_DEVICE auto floor_divide(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::floor_divide(x, y);
  } else if constexpr (sizeof(T) == 8) {
    return guf::select_path<long_quotient>(x, y);
  } else if constexpr (kByInverse) {
    return quotient_by_inverse(x, y);
  } else {
    return quotient_by_instruction(x, y);
  }
}

template <class T>
GUF_DEVICE auto remainder(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::floor_modulo(x, y);
  } else if constexpr (sizeof(T) == 8) {
    return guf::select_path<long_rest>(x, y);
  } else if constexpr (kByInverse) {
    return rest_by_inverse(x, y);
  } else {
    return rest_by_instruction(x, y);
  }
}

}  // namespace standard

GUF_UFUNC(standard::floor_divide, GUF_LOOPS_floor_divide);
GUF_UFUNC(standard::remainder, GUF_LOOPS_remainder);
