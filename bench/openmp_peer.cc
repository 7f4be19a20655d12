// SPDX-License-Identifier: Apache-2.0
// Hand-written OpenMP loops, compiled by gcc with -O3 -march=native -fopenmp
// (bench/CMakeLists.txt).
#include "openmp_peer.h"

#include <cmath>

namespace gufunc::bench {

void openmp_discriminant(const float *__restrict a, const float *__restrict b,
                         const float *__restrict c, float *__restrict out, int64_t n, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; ++i) out[i] = std::sqrt(b[i] * b[i] - 4.0F * a[i] * c[i]);
}

void openmp_add(const float *__restrict a, const float *__restrict b, float *__restrict out,
                int64_t n, int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

}  // namespace gufunc::bench
