// SPDX-License-Identifier: Apache-2.0
// Estimates the work of a launch from the measured cost of its loop, and divides it into chunks for
// the pool. The run time of loops is measured while they run. It influences how many threads run a
// launch, but never the results.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_WORK_SPLIT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_WORK_SPLIT_H

#include <gufunc/backend.h>

#include <cstdint>
#include <ctime>

#include "backends/cpu/base/thread_pool.h"

namespace gufunc::cpu {

// The measured cost of one loop, which is identified by its function and its user pointer. The
// costs are in a table of fixed size. A loop whose table entry was overwritten by another loop is
// measured again.
//
// The cost of a launch is its weight: the number of elements that an ordinary loop computes in the
// same time. An ordinary loop takes 0.25 ns for each element.
class LoopCost {
 public:
  static constexpr uint64_t kElementsPerMicrosecond = 4000;

  LoopCost(const void *entry, const void *user);

  bool is_known() const { return factor_ != 0; }
  // Returns the weight of `work` elements of this loop, which is at least `work`, or UINT64_MAX on
  // overflow. If the loop has not been measured, returns `work`.
  uint64_t weigh(uint64_t work) const;
  // Records the cost of an ordinary loop, unless the loop has been measured. Called for the loops
  // of the standard library.
  void assume_ordinary() {
    if (!is_known()) record(kElementsPerMicrosecond, 1000);
  }
  // Records that `work` elements took `ns` nanoseconds.
  void record(uint64_t work, uint64_t ns);

 private:
  struct Entry;
  static Entry table[];

  const uint64_t key_;
  Entry &entry_;
  float factor_;  // weight of an element; 0: not measured
};

// Returns true for about one in 16 calls on a thread. A launch for which the result is true is
// timed, even if it is so short that timing every such launch would be too expensive.
bool is_sample();

class Stopwatch {
 public:
  uint64_t ns() const { return now() - begun_; }

 private:
  static uint64_t now() {
    timespec at = {};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return static_cast<uint64_t>(at.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(at.tv_nsec);
  }
  const uint64_t begun_ = now();
};

// Estimates the number of elements that a launch accesses:
// the number of items times the product of the core extents. Returns UINT64_MAX on overflow.
uint64_t work_of(const guf_launch_block &block);

// The limits of work below are weights (LoopCost): 4000 units of weight take a microsecond.
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
