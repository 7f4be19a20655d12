// SPDX-License-Identifier: Apache-2.0
// The discriminant's root: the first ufunc everybody meets. One template, two loops; everything is
// computed in the loop's own type, so the f32 loop rounds each operation to f32.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T discriminant(T a, T b, T c) {
  return guf::sqrt(b * b - T(4) * a * c);
}
GUF_UFUNC(discriminant, "fff->f ddd->d", "doc=sqrt(b**2 - 4*a*c)");
