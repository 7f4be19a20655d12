// SPDX-License-Identifier: Apache-2.0
// The square root of the discriminant of a quadratic equation. One template provides two loops. All
// steps are computed in the dtype of the loop, so the f32 loop rounds each operation to f32.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T discriminant(T a, T b, T c) {
  return guf::sqrt(b * b - T(4) * a * c);
}
GUF_UFUNC(discriminant, "fff->f ddd->d", "doc=sqrt(b**2 - 4*a*c)");
