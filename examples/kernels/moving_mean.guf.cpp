// SPDX-License-Identifier: Apache-2.0
// Mean of the last `window` elements; of fewer where the row begins. The running sum is f64 in both
// loops.
#include <gufunc/kernel.hpp>

template <class A, class W, class Out>
GUF_DEVICE void moving_mean(A a, W window, Out out) {
  guf::f64 sum = 0;
  guf::i64 count = 0;
  for (guf::i64 i = 0; i < a.extent(0); ++i) {
    sum += guf::f64(a[i]);
    if (count < window) {
      ++count;
    } else {
      sum -= guf::f64(a[i - count]);
    }
    out[i] = guf::cast<typename Out::type>(sum / (guf::f64)count);
  }
}
GUF_GUFUNC(moving_mean, "(n),()->(n)", "fq->f dq->d");
