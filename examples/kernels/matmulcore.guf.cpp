// SPDX-License-Identifier: Apache-2.0
// The product of two matrices, computed as in its definition. Each sum is accumulated in the dtype
// of the loop, with ascending indices along n. The library's matmul is faster.
#include <gufunc/kernel.hpp>

template <class A, class B, class C>
GUF_DEVICE void matmulcore(A a, B b, C c) {
  for (guf::i64 i = 0; i < c.extent(0); ++i) {
    for (guf::i64 j = 0; j < c.extent(1); ++j) {
      guf::value_t<typename C::type> sum = 0;
      for (guf::i64 k = 0; k < a.extent(1); ++k) sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    }
  }
}
GUF_GUFUNC(matmulcore, "(m,n),(n,p)->(m,p)", "qq->q ff->f dd->d");
