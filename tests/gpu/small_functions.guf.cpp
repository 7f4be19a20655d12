// SPDX-License-Identifier: Apache-2.0
// Kernels for tests of complete plugins. The kernels are few and small, so their images load
// quickly.
#include <gufunc/kernel.hpp>
#include <gufunc/raw_kernel.hpp>

// The tests of all methods use this function.
GUF_DEVICE guf::f64 plus(guf::f64 x, guf::f64 y) {
  return x + y;
}
GUF_UFUNC(plus, "dd->d", "commutative", "associative", "identity=zero");

GUF_DEVICE guf::f64 ratio(guf::f64 x, guf::f64 y) {
  return x / y;
}
GUF_UFUNC(ratio, "dd->d", "divides", "underflows");

// Reports a failure if an element is negative.
GUF_DEVICE guf::f64 checked(guf::f64 x, bool &failed) {
  failed = x < 0;
  return x;
}
GUF_UFUNC(checked, "d->d", "failure=found a negative element");

template <class A, class B, class Out>
GUF_DEVICE void dot(A a, B b, Out out) {
  guf::f64 sum = 0;
  for (guf::i64 i = 0; i < a.extent(0); ++i) sum += a[i] * b[i];
  out() = sum;
}
GUF_GUFUNC(dot, "(n),(n)->()", "dd->d");

GUF_DEVICE void doubled(guf::block g, guf::f64 *x, guf::i64 n) {
  if (g.global_id() < n) x[g.global_id()] *= 2;
}
GUF_KERNEL(doubled);
