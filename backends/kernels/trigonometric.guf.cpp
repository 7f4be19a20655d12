// SPDX-License-Identifier: Apache-2.0
// sin and cos.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T sin(T x) {
  return guf::sin(x);
}
template <class T>
GUF_DEVICE T cos(T x) {
  return guf::cos(x);
}

}  // namespace standard

GUF_UFUNC(standard::sin, GUF_LOOPS_sin);
GUF_UFUNC(standard::cos, GUF_LOOPS_cos);
