// SPDX-License-Identifier: Apache-2.0
// Scalars in, a vector out: x, x+x, x+x+x**2, ... One formula, registered twice: `foo` has a rule,
// so its length is the value of the second input; `foo_any` has none, so the output or the caller's
// `dims` give it. Accumulates in the loop's own type.
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
