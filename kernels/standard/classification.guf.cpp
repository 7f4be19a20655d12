// SPDX-License-Identifier: Apache-2.0
// isnan, isinf, isfinite and signbit. Integers and bools are finite. A complex number is NaN or
// infinite if one of its parts is. A datetime or timedelta is never infinite, and not-a-time counts
// as NaN.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

template <class T>
GUF_DEVICE bool isnan(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::isnan(x);
  } else {
    return false;
  }
}
template <class T>
GUF_DEVICE bool isnan(guf::complex<T> z) {
  return guf::isnan(z.re) || guf::isnan(z.im);
}
GUF_DEVICE bool isnan(guf::datetime x) {
  return guf::is_nat(x);
}
GUF_DEVICE bool isnan(guf::timedelta x) {
  return guf::is_nat(x);
}

template <class T>
GUF_DEVICE bool isinf(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::isinf(x);
  } else {
    return false;
  }
}
template <class T>
GUF_DEVICE bool isinf(guf::complex<T> z) {
  return guf::isinf(z.re) || guf::isinf(z.im);
}
GUF_DEVICE bool isinf(guf::datetime) {
  return false;
}
GUF_DEVICE bool isinf(guf::timedelta) {
  return false;
}

template <class T>
GUF_DEVICE bool isfinite(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::isfinite(x);
  } else {
    return true;
  }
}
template <class T>
GUF_DEVICE bool isfinite(guf::complex<T> z) {
  return guf::isfinite(z.re) && guf::isfinite(z.im);
}
GUF_DEVICE bool isfinite(guf::datetime x) {
  return !guf::is_nat(x);
}
GUF_DEVICE bool isfinite(guf::timedelta x) {
  return !guf::is_nat(x);
}

template <class T>
GUF_DEVICE bool signbit(T x) {
  return guf::signbit(x);
}

}  // namespace standard

GUF_UFUNC(standard::isnan, GUF_LOOPS_isnan);
GUF_UFUNC(standard::isinf, GUF_LOOPS_isinf);
GUF_UFUNC(standard::isfinite, GUF_LOOPS_isfinite);
GUF_UFUNC(standard::signbit, GUF_LOOPS_signbit);
