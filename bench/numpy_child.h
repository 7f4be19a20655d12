// SPDX-License-Identifier: Apache-2.0
// A Python process that times NumPy on request, so that its figure is taken in the same run as
// ours.
#ifndef GUFUNC_BENCH_NUMPY_CHILD_H
#define GUFUNC_BENCH_NUMPY_CHILD_H

#include <cstdio>

namespace gufunc::bench {

class NumpyChild {
 public:
  NumpyChild();
  NumpyChild(const NumpyChild &) = delete;
  NumpyChild &operator=(const NumpyChild &) = delete;

  // Seconds that `calls` calls of np.add(a, b, out) on one f32 element take; negative when there is
  // no NumPy.
  double time(int calls);

 private:
  FILE *to_ = nullptr;
  FILE *from_ = nullptr;
};

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_NUMPY_CHILD_H
