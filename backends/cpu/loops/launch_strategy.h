// SPDX-License-Identifier: Apache-2.0
// The strategy of a launch. The slots `launch` and `describe_launch` share these decisions,
// which do not depend on the values of elements.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_LAUNCH_STRATEGY_H
#define GUFUNC_BACKENDS_CPU_LOOPS_LAUNCH_STRATEGY_H

#include <gufunc/backend.h>

#include "backends/cpu/loops/item_walk.h"
#include "backends/cpu/loops/non_temporal_loop.h"
#include "backends/cpu/loops/work_split.h"

namespace gufunc::cpu {

// The reason why a launch is serial.
enum class SerialReason : uint8_t {
  kNotSerial,         // the launch may run on several threads
  kCallerThreadOnly,  // the loop may not run on threads of the backend
  kRequested,         // the launch requests one thread
  kTooSmall,          // several threads would cost more than they save
  kOneThread,         // the pool has one thread
  kOneChunk,          // the items fit in one chunk
  kUnknownCost        // the loop was never measured; the cost of the first item decides
};

// Returns a reason that does not depend on the cost of the loop, or kNotSerial.
inline SerialReason serial_reason(const guf_launch_block &block, uint32_t max_threads) {
  if (block.items <= 1) return SerialReason::kOneChunk;
  if ((block.flags & GUF_LAUNCH_ANY_THREAD) == 0) return SerialReason::kCallerThreadOnly;
  return max_threads == 1 ? SerialReason::kRequested : SerialReason::kNotSerial;
}

// Returns whether the launch is a single call of the loop on this thread.
inline bool is_one_call(const guf_launch_block &block, SerialReason serial) {
  constexpr uint32_t kNeedsWalk = GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;
  return serial != SerialReason::kNotSerial && block.nloop <= 1 &&
         block.items < kMinNonTemporalItems && (block.flags & kNeedsWalk) == 0;
}

struct LaunchStrategy {
  SerialReason serial;
  uint64_t weight;   // cost of the launch, see LoopCost
  uint32_t threads;  // maximum; the launch does not wait for helpers that are busy or asleep
  Split split;
  ItemTraversal items;
};
LaunchStrategy launch_strategy(const guf_launch_block &block, uint32_t max_threads,
                               const LoopCost &cost);

// Divides the items from `first` on among threads.
// On entry, `strategy` contains the strategy of all items.
void share_items(const guf_launch_block &block, uint64_t first, uint64_t weight,
                 uint32_t max_threads, LaunchStrategy *strategy);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_LAUNCH_STRATEGY_H
