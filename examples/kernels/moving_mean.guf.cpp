// SPDX-License-Identifier: Apache-2.0
// The mean of the last `window` elements, or of fewer elements at the start of the row. Both loops
// keep the running sum in f64.
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
