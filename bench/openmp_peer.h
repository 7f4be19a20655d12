// SPDX-License-Identifier: Apache-2.0
// Declares hand-written OpenMP loops, for comparison with elementwise calls.
#ifndef GUFUNC_BENCH_OPENMP_PEER_H
#define GUFUNC_BENCH_OPENMP_PEER_H

#include <cstdint>

namespace gufunc::bench {

void openmp_discriminant(const float *a, const float *b, const float *c, float *out, int64_t n,
                         int threads);
void openmp_add(const float *a, const float *b, float *out, int64_t n, int threads);

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_OPENMP_PEER_H
