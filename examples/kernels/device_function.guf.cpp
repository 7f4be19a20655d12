// SPDX-License-Identifier: Apache-2.0
// A ufunc that calls another device function: x ** y / z. All steps are computed in the dtype of
// the loop.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T quotient_of(T a, T b) {
  return a / b;
}

template <class T>
GUF_DEVICE T power_over(T x, T y, T z) {
  return quotient_of(guf::pow(x, y), z);
}
GUF_UFUNC(power_over, "fff->f ddd->d", "doc=x ** y / z");
