// SPDX-License-Identifier: Apache-2.0
// floor, ceil, trunc and rint. As in NumPy, floor, ceil and trunc return integers unchanged.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

template <class T>
GUF_DEVICE T floor(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::floor(x);
  } else {
    return x;
  }
}

template <class T>
GUF_DEVICE T ceil(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::ceil(x);
  } else {
    return x;
  }
}

template <class T>
GUF_DEVICE T trunc(T x) {
  if constexpr (guf::is_float<T>::value) {
    return guf::trunc(x);
  } else {
    return x;
  }
}

template <class T>
GUF_DEVICE T rint(T x) {
  return guf::rint(x);
}
template <class T>
GUF_DEVICE guf::complex<T> rint(guf::complex<T> z) {
  return guf::complex<T>(guf::rint(z.re), guf::rint(z.im));
}

}  // namespace standard

GUF_UFUNC(standard::floor, GUF_LOOPS_floor);
GUF_UFUNC(standard::ceil, GUF_LOOPS_ceil);
GUF_UFUNC(standard::trunc, GUF_LOOPS_trunc);
GUF_UFUNC(standard::rint, GUF_LOOPS_rint);
