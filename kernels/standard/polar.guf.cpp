// SPDX-License-Identifier: Apache-2.0
// arctan2 and hypot: the angle and the radius of a point in the plane.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T arctan2(T y, T x) {
  return guf::atan2(y, x);
}

template <class T>
GUF_DEVICE T hypot(T x, T y) {
  return guf::hypot(x, y);
}

}  // namespace standard

GUF_UFUNC(standard::arctan2, GUF_LOOPS_arctan2);
GUF_UFUNC(standard::hypot, GUF_LOOPS_hypot, "commutative", "associative");
