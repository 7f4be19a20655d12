// SPDX-License-Identifier: Apache-2.0
// Reports an exception as the error of one benchmark, so that all other benchmarks still run.
#ifndef GUFUNC_BENCH_DEVICE_GUARD_H
#define GUFUNC_BENCH_DEVICE_GUARD_H

#include <benchmark/benchmark.h>

#include "driver_peer.h"

namespace gufunc::bench {

template <class Body>
void guarded(benchmark::State &state, Body body) {
  try {
    body();
  } catch (const Failure &failure) {
    state.SkipWithError(failure.text.c_str());
  }
}

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_DEVICE_GUARD_H
