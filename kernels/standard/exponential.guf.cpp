// SPDX-License-Identifier: Apache-2.0
// exp, log and sqrt.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
GUF_DEVICE T exp(T x) {
  return guf::exp(x);
}
template <class T>
GUF_DEVICE auto log(T x) {
  return guf::select_path<guf::ranges::log>(x);
}
template <class T>
GUF_DEVICE T sqrt(T x) {
  return guf::sqrt(x);
}

}  // namespace standard

GUF_UFUNC(standard::exp, GUF_LOOPS_exp);
GUF_UFUNC(standard::log, GUF_LOOPS_log);
GUF_UFUNC(standard::sqrt, GUF_LOOPS_sqrt);
