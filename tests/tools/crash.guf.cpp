// SPDX-License-Identifier: Apache-2.0
// Kernels that end the process, for the tests of fatal signals.
#include <gufunc/kernel.hpp>

template <class T>
GUF_DEVICE T quotient(T x, T y) {
  return x / y;
}
GUF_UFUNC(quotient, "qq->q", "doc=Divides, and traps where y is 0");

// Recursive calls that need 1.6 MiB of stack, in frames that are smaller than a guard page.
template <int kLevel>
struct Deep {
  static GUF_DEVICE __attribute__((noinline)) guf::f64 call(guf::f64 x) {
    volatile guf::f64 frame[256];
    const guf::i64 at = (guf::i64)x & 255;
    frame[at] = x;
    return Deep<kLevel - 1>::call(x + 1) + frame[at];
  }
};
template <>
struct Deep<0> {
  static GUF_DEVICE guf::f64 call(guf::f64 x) { return x; }
};

GUF_DEVICE guf::f64 deep(guf::f64 x) {
  return x == 0 ? x : Deep<800>::call(x);
}
GUF_UFUNC(deep, "d->d", "doc=Overflows the stack where x is not 0");

GUF_DEVICE guf::f64 busy(guf::f64 x) {
  volatile guf::f64 sum = 0;
  for (guf::i64 i = 0; i < (guf::i64)x; ++i) sum = sum + 1;
  return sum;
}
GUF_UFUNC(busy, "d->d", "doc=Adds 1 so many times");

GUF_DEVICE guf::f64 busy_sum(guf::f64 x, guf::f64 y) {
  return x + busy(y);
}
GUF_UFUNC(busy_sum, "dd->d", "doc=Adds the second to the first by ones");
