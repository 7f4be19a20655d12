// SPDX-License-Identifier: Apache-2.0
// A ufunc of two outputs, for the tests of the command line.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE void divmod(T x, T y, guf::out<T> quotient, guf::out<T> remainder) {
  const auto parts = guf::floor_divmod(x, y);
  quotient = parts.quotient;
  remainder = parts.remainder;
}
GUF_UFUNC(divmod, "qq->qq dd->dd");
