// SPDX-License-Identifier: Apache-2.0
// Estimates the work of a launch and divides it into chunks for the pool.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_WORK_SPLIT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_WORK_SPLIT_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/base/thread_pool.h"

namespace gufunc::cpu {

// Estimates the number of elements that a launch accesses:
// the number of items times the product of the core extents. Returns UINT64_MAX on overflow.
uint64_t work_of(const guf_launch_block &block);

// The limits of work below are weights (loop_cost.h): 4000 units of weight take a microsecond.
//
// Below this limit, a second thread costs more than it saves, even if it is awake.
inline constexpr uint64_t kParallelWork = 32 * 1024;
// Below this limit, waking a thread does not pay, because the thread starts only after 11 to 60 us.
inline constexpr uint64_t kWakeWork = 128 * 1024;
// Up to this limit, an idle stream runs work on the calling thread instead of its own thread.
inline constexpr uint64_t kInlineWork = 64 * 1024;
// Below this limit, not every launch is timed, because reading the clock takes 50 ns.
inline constexpr uint64_t kTimedWork = 8 * 1024;
// After the first item of a loop that was never measured, threads share the remaining items only if
// their weight is at least this limit.
inline constexpr uint64_t kMinUnmeasuredWork = 512 * 1024;
// If the first item took less time than this limit, cold caches may dominate its time. The next
// item is then measured instead.
inline constexpr uint64_t kColdNs = 50'000;

// Returns the weight from which the number of threads is computed. If a call requests several
// threads, the weight is at least kWakeWork, so that the call gets these threads even for little
// work.
inline uint64_t weight_for_requested_threads(uint64_t weight, uint32_t max_threads) {
  return max_threads < 2 || weight > kWakeWork ? weight : kWakeWork;
}

struct Split {
  uint64_t chunk_items = 0;
  uint32_t chunks = 1;
  ThreadPool::Wake wake = ThreadPool::Wake::kNo;
};

// Divides `items` among `threads` threads. `work` and `bytes` are the weight and the size of all
// items. Chunks of cheap items have 64 KiB to 1 MiB; chunks of expensive items may be smaller. A
// chunk of at least 64 items has a multiple of 64 items, so that no two threads write to the same
// cache line of a contiguous, aligned output.
Split split_items(uint64_t items, uint64_t work, uint64_t bytes, uint32_t threads);

// Makes the chunk size a multiple of `step` items.
// There is one chunk if `step` exceeds the number of items.
void widen_chunks(Split *split, uint64_t items, int64_t step);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_WORK_SPLIT_H
