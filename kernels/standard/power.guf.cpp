// SPDX-License-Identifier: Apache-2.0
// power and float_power. Integer powers are computed by repeated squaring and wrap.
// A negative exponent of a signed type is an error.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

template <class T>
GUF_DEVICE auto power(T x, T y) {
  return guf::select_path<guf::ranges::pow>(x, y);
}

template <class T>
GUF_DEVICE auto float_power(T x, T y) {
  return guf::select_path<guf::ranges::pow>(x, y);
}

template <class T>
GUF_DEVICE T integer_power(T x, T y, bool &failed) {
  typedef wrapping_t<T> wide;
  failed = guf::limits<T>::is_signed && y < T(0);
  wide result = 1, square = (wide)x;
  for (wide left = failed ? wide(0) : (wide)y; left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return (T)result;
}

}  // namespace standard

GUF_UFUNC(standard::integer_power, GUF_LOOPS_INTEGER_2, "name=power",
          "failure=Integers to negative integer powers are not allowed.");
GUF_UFUNC(standard::power, GUF_LOOPS_FLOAT_2 " " GUF_LOOPS_COMPLEX_2);
GUF_UFUNC(standard::float_power, GUF_LOOPS_float_power);
