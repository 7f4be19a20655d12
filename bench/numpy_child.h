// SPDX-License-Identifier: Apache-2.0
// A Python process that measures NumPy on request, so that NumPy and the library are measured in
// the same run.
#ifndef GUFUNC_BENCH_NUMPY_CHILD_H
#define GUFUNC_BENCH_NUMPY_CHILD_H

#include <cstdio>

namespace gufunc::bench {

class NumpyChild {
 public:
  NumpyChild();
  NumpyChild(const NumpyChild &) = delete;
  NumpyChild &operator=(const NumpyChild &) = delete;

  // Returns the duration in seconds of `calls` calls of np.add(a, b, out) on one f32 element, or a
  // negative number if NumPy is missing.
  double time(int calls);

 private:
  FILE *to_ = nullptr;
  FILE *from_ = nullptr;
};

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_NUMPY_CHILD_H
