// SPDX-License-Identifier: Apache-2.0
// How much work a launch is, and how it is cut into chunks for the pool.
#ifndef GUFUNC_BACKENDS_CPU_WORK_SPLIT_H
#define GUFUNC_BACKENDS_CPU_WORK_SPLIT_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/claim_pool.h"

namespace gufunc::cpu {

// Elements one launch touches, as an estimate: items times the product of the core extents.
// Saturates.
uint64_t work_of(const guf_launch_block &block);

// All work is weighed by what an element costs (loop_cost.h): 4000 take a microsecond.
//
// Below this a second thread costs more than it brings, even one that is awake.
inline constexpr uint64_t kParallelWork = 32 * 1024;
// Below this it is not worth waking one: that takes 11 to 60 us to arrive.
inline constexpr uint64_t kWakeWork = 128 * 1024;
// Up to this a stream that is idle runs work on the caller instead of handing it over.
inline constexpr uint64_t kInlineWork = 64 * 1024;
// Below this the clock is not read for each launch: that takes 50 ns.
inline constexpr uint64_t kTimedWork = 8 * 1024;
// What must be left, after the first item of a loop that was never measured, to share the rest.
inline constexpr uint64_t kSurpriseWork = 512 * 1024;
// An item that took less may have paid for cold caches mostly: the next one is measured instead.
inline constexpr uint64_t kColdNs = 50'000;

// The weight that decides about threads. A call that names a number of threads gets them, however
// little there is to do.
inline uint64_t ordered_work(uint64_t weight, uint32_t max_threads) {
  return max_threads < 2 || weight > kWakeWork ? weight : kWakeWork;
}

struct Split {
  uint64_t chunk_items = 0;
  uint32_t chunks = 1;
  ClaimPool::Wake wake = ClaimPool::Wake::kNo;
};

// Cuts `items` of together `work` elements and `bytes` bytes for `threads` threads. Elementwise
// chunks hold 64 KiB to 1 MiB and a multiple of 64 items, so that no two threads write one cache
// line of a contiguous output that is aligned.
Split split_items(uint64_t items, uint64_t work, uint64_t bytes, uint32_t threads);

// Makes the chunks multiples of `step` items; one chunk when that is more than there are.
void widen_chunks(Split *split, uint64_t items, int64_t step);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_WORK_SPLIT_H
