// SPDX-License-Identifier: Apache-2.0
// How a launch is run: what the slot `launch` does and what `describe_launch` tells, decided by the
// same code and without a look at any element.
#ifndef GUFUNC_BACKENDS_CPU_LAUNCH_WAY_H
#define GUFUNC_BACKENDS_CPU_LAUNCH_WAY_H

#include <gufunc/backend.h>

#include "backends/cpu/item_walk.h"
#include "backends/cpu/loop_cost.h"
#include "backends/cpu/streamed_loop.h"
#include "backends/cpu/work_split.h"

namespace gufunc::cpu {

// Why one thread runs all of a launch.
enum class Alone : uint8_t {
  kNo,
  kOrdered,  // the loop does not run on threads of the backend
  kAsked,    // the launch asks for one thread
  kSmall,    // sharing would cost more than it brings
  kGranted,  // the pool has one thread
  kWhole,    // the items are one chunk
  kNew       // little work of a loop that was never measured: the first item decides about the rest
};

// The reasons that are known without a look at the loop's cost.
inline Alone alone_of(const guf_launch_block &block, uint32_t max_threads) {
  if (block.items <= 1) return Alone::kWhole;
  if ((block.flags & GUF_LAUNCH_ANY_THREAD) == 0) return Alone::kOrdered;
  return max_threads == 1 ? Alone::kAsked : Alone::kNo;
}

// Whether the launch is one call of the loop on this thread.
inline bool is_one_call(const guf_launch_block &block, Alone alone) {
  constexpr uint32_t kNeedsWalk = GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;
  return alone != Alone::kNo && block.nloop <= 1 && block.items < kFewestStreamedItems &&
         (block.flags & kNeedsWalk) == 0;
}

struct LaunchWay {
  Alone alone;
  uint64_t weight;   // see work_split.h
  uint32_t threads;  // at most so many: helpers that are busy or asleep are not waited for
  Split split;
  ItemWay items;
};
LaunchWay launch_way(const guf_launch_block &block, uint32_t max_threads, const LoopCost &cost);

// How items from `first` on are shared; `way` is of all of them.
void share_items(const guf_launch_block &block, uint64_t first, uint64_t weight,
                 uint32_t max_threads, LaunchWay *way);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LAUNCH_WAY_H
