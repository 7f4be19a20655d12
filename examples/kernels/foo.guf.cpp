// SPDX-License-Identifier: Apache-2.0
// Computes a vector from scalars: x, x+x, x+x+x**2, ... The kernel is registered twice. `foo` has a
// rule, so the length of its result is the value of the second input. `foo_any` has no rule, so its
// length comes from the output or from the caller's `dims`. The kernel accumulates in the dtype of
// the loop.
#include <gufunc/kernel.hpp>

template <class X, class N, class Y>
GUF_DEVICE void foo(X x, N, Y y) {
  X sum = x;
  X power = x;
  for (guf::i64 i = 0; i < y.extent(0); ++i) {
    y[i] = sum;
    sum += power;
    power *= x;
  }
}
GUF_GUFUNC(foo, "(),()->(n)", "fq->f dq->d", "rule=n=value(1)");
GUF_GUFUNC(foo, "(),()->(n)", "fq->f dq->d", "name=foo_any");
