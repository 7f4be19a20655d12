// SPDX-License-Identifier: Apache-2.0
// Runs one block of a device entry that calls barriers. Tracks which work-items can run and which
// ones wait.
#ifndef GUFUNC_BACKENDS_EMULATOR_BLOCK_RUNNER_H
#define GUFUNC_BACKENDS_EMULATOR_BLOCK_RUNNER_H

#include <memory>

#include "backends/emulator/emulator.h"
#include "backends/emulator/fiber.h"

namespace gufunc::emulator {

class BlockRunner;

enum class ItemState : uint8_t { kReady, kAtSync, kAtShuffle, kReturned };

// A work-item that runs on a fiber.
struct FiberItem : guf::device::work_item {
  BlockRunner *runner;
  uint32_t slot;  // position in the order of execution, which may be descending
  ItemState state;
  uint32_t lane;   // the lane whose value the item requests
  uint64_t value;  // the value that the item provides, later the value that it receives
};

// Runs the items of one block one after the other, each up to its next barrier.
// Threads  an object is used by one thread only
class BlockRunner {
 public:
  // Prepares for blocks of a launch. Returns false if there is no memory.
  bool prepare(const Launch &launch, char *shared);

  // Runs one block. If the block fails, sets the three counts in `result` and frees the stacks, so
  // the next block needs prepare().
  Outcome run_block(const uint32_t (&block)[3], Result &result);

 private:
  static void sync(guf::device::work_item *self);
  static guf::u64 shuffle(guf::device::work_item *self, guf::u64 value, guf::u32 lane);
  static void fiber_main(void *item);

  uint32_t first_of_group(uint32_t number) const;
  uint32_t size_of_group(uint32_t number) const;
  void complete_shuffle(uint32_t number);
  void release_barrier();
  Fiber *next_fiber();
  void wait(FiberItem &item);
  FiberItem &item_of(uint32_t number) {
    return items_[launch_.descending ? count_ - 1 - number : number];
  }

  Launch launch_ = {};
  uint32_t count_ = 0;                  // number of items of a block
  uint32_t capacity_ = 0;               // number of elements of items_
  std::unique_ptr<FiberItem[]> items_;  // indexed by slot
  // The number of lanes of each sub-group that have arrived at a shuffle.
  uint32_t arrived_[kMaxThreads / guf::device::kLanes] = {};
  uint32_t ready_ = 0, at_sync_ = 0, returned_ = 0;
  uint32_t cursor_ = 0;  // first slot of the search for the next ready item
  FiberStacks stacks_;
  Fiber thread_;  // the context of the thread that called run_block
};

}  // namespace gufunc::emulator

#endif  // GUFUNC_BACKENDS_EMULATOR_BLOCK_RUNNER_H
