// SPDX-License-Identifier: Apache-2.0
// Runs a loop with non-temporal stores if its output is far larger than the caches.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_NON_TEMPORAL_LOOP_H
#define GUFUNC_BACKENDS_CPU_LOOPS_NON_TEMPORAL_LOOP_H

#include <gufunc/backend.h>

#include "backends/cpu/loops/host_loop.h"

namespace gufunc::cpu {

// Launches with fewer than kMinNonTemporalItems items never use non-temporal stores, so small
// launches need only one comparison.
inline constexpr uint64_t kMinNonTemporalItems = 4 << 20;

// Returns whether the launch has one output, which is contiguous, not also an input, and larger
// than the share of the last-level cache that one core can fill. Non-temporal stores then avoid
// reading the output's cache lines, and these lines need not stay in the cache.
bool uses_non_temporal_stores(const guf_launch_block &block);

// The loop writes each block to a buffer in the L1 cache, which is then copied to memory with
// non-temporal stores (bench: add f32 of 1e8, one thread: 39 -> 32 ms). Each chunk of work uses its
// own object.
class NonTemporalLoop {
 public:
  // Requires uses_non_temporal_stores(block).
  NonTemporalLoop(const guf_launch_block &block, const HostLoop &loop);
  ~NonTemporalLoop();
  NonTemporalLoop(const NonTemporalLoop &) = delete;
  NonTemporalLoop &operator=(const NonTemporalLoop &) = delete;

  // Runs `count` consecutive items along dimension 0, starting at the addresses in `args`.
  guf_status run_row(char *const *args, int64_t count);

 private:
  static constexpr int64_t kBlockBytes = 2048;
  static constexpr int64_t kLine = 64;

  const guf_launch_block &block_;
  const HostLoop &loop_;
  int output_;
  int64_t item_bytes_;
  alignas(kLine) char buffer_[kBlockBytes];
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_NON_TEMPORAL_LOOP_H
