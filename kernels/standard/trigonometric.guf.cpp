// SPDX-License-Identifier: Apache-2.0
// sin and cos.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE auto sin(T x) {
  return guf::select_path<guf::ranges::sin>(x);
}
template <class T>
GUF_DEVICE auto cos(T x) {
  return guf::select_path<guf::ranges::cos>(x);
}

}  // namespace standard

GUF_UFUNC(standard::sin, GUF_LOOPS_sin);
GUF_UFUNC(standard::cos, GUF_LOOPS_cos);
