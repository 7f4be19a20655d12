// SPDX-License-Identifier: Apache-2.0
// A Python process that times NumPy on request, so that NumPy is measured in the same run as the
// library.
#ifndef GUFUNC_BENCH_NUMPY_CHILD_H
#define GUFUNC_BENCH_NUMPY_CHILD_H

#include <cstdio>

namespace gufunc::bench {

class NumpyChild {
 public:
  NumpyChild();
  NumpyChild(const NumpyChild &) = delete;
  NumpyChild &operator=(const NumpyChild &) = delete;

  // Returns the seconds that `calls` calls of np.add(a, b, out) on one f32 element take, or a
  // negative number if NumPy is missing.
  double time(int calls);

 private:
  FILE *to_ = nullptr;
  FILE *from_ = nullptr;
};

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_NUMPY_CHILD_H
