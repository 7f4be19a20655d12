// SPDX-License-Identifier: Apache-2.0
#include "backends/emulator/block_runner.h"

#include <algorithm>
#include <new>

namespace gufunc::emulator {

using guf::u32;
using guf::u64;
using guf::device::kLanes;
using guf::device::work_item;

bool BlockRunner::prepare(const Launch &launch, char *shared) {
  launch_ = launch;
  count_ = launch.threads[0] * launch.threads[1] * launch.threads[2];
  if (!stacks_.reserve(count_)) return false;
  if (count_ > capacity_) {
    items_.reset(new (std::nothrow) FiberItem[count_]);
    capacity_ = items_ == nullptr ? 0 : count_;
    if (items_ == nullptr) return false;
  }
  adopt_thread(thread_);
  for (uint32_t number = 0; number < count_; ++number) {
    FiberItem &item = item_of(number);
    item.thread[0] = number % launch.threads[0];
    item.thread[1] = number / launch.threads[0] % launch.threads[1];
    item.thread[2] = number / launch.threads[0] / launch.threads[1];
    std::copy_n(launch.threads, 3, item.threads);
    std::copy_n(launch.blocks, 3, item.blocks);
    item.shared = shared;
    item.sync = &BlockRunner::sync;
    item.shuffle = &BlockRunner::shuffle;
    item.runner = this;
    item.slot = launch.descending ? count_ - 1 - number : number;
  }
  return true;
}

Outcome BlockRunner::run_block(const uint32_t (&block)[3], Result &result) {
  for (uint32_t slot = 0; slot < count_; ++slot) {
    FiberItem &item = items_[slot];
    std::copy_n(block, 3, item.block);
    item.state = ItemState::kReady;
    prepare_fiber(stacks_.at(slot), &BlockRunner::fiber_main, &item);
  }
  std::fill(std::begin(arrived_), std::end(arrived_), 0u);
  ready_ = count_;
  at_sync_ = returned_ = cursor_ = 0;
  switch_fiber(thread_, *next_fiber());
  if (returned_ == count_) return Outcome::kDone;
  result.at_sync = at_sync_;
  result.returned = returned_;
  result.at_shuffle = count_ - at_sync_ - returned_;
  // The stacks are replaced, because they still contain frames of items that will never return,
  // and sanitizers track these frames.
  stacks_.release();
  return Outcome::kMissedBarrier;
}

// Returns the fiber that runs next, or the calling thread
// if the block is complete or cannot continue.
Fiber *BlockRunner::next_fiber() {
  if (ready_ == 0 && at_sync_ == count_) release_barrier();
  if (ready_ == 0) return &thread_;
  while (cursor_ < count_ && items_[cursor_].state != ItemState::kReady) ++cursor_;
  if (cursor_ == count_) {
    cursor_ = 0;
    while (items_[cursor_].state != ItemState::kReady) ++cursor_;
  }
  --ready_;
  return &stacks_.at(cursor_++);
}

void BlockRunner::release_barrier() {
  for (uint32_t slot = 0; slot < count_; ++slot) items_[slot].state = ItemState::kReady;
  ready_ = count_;
  at_sync_ = cursor_ = 0;
}

// Runs other items until `item` is ready and is the next item to run.
void BlockRunner::wait(FiberItem &item) {
  Fiber &own = stacks_.at(item.slot);
  Fiber *next = next_fiber();
  if (next != &own) switch_fiber(own, *next);
}

void BlockRunner::sync(work_item *self) {
  FiberItem &item = *static_cast<FiberItem *>(self);
  item.state = ItemState::kAtSync;
  ++item.runner->at_sync_;
  item.runner->wait(item);
}

u64 BlockRunner::shuffle(work_item *self, u64 value, u32 lane) {
  FiberItem &item = *static_cast<FiberItem *>(self);
  BlockRunner &runner = *item.runner;
  item.state = ItemState::kAtShuffle;
  item.value = value;
  item.lane = lane % kLanes;
  const uint32_t number = runner.launch_.descending ? runner.count_ - 1 - item.slot : item.slot;
  if (++runner.arrived_[number / kLanes] == runner.size_of_group(number)) {
    runner.complete_shuffle(number);
  }
  runner.wait(item);
  return item.value;
}

uint32_t BlockRunner::first_of_group(uint32_t number) const {
  return number / kLanes * kLanes;
}

uint32_t BlockRunner::size_of_group(uint32_t number) const {
  return std::min<uint32_t>(kLanes, count_ - first_of_group(number));
}

// Completes a shuffle after all lanes have provided their values.
// Each lane receives the value that it requested.
void BlockRunner::complete_shuffle(uint32_t number) {
  const uint32_t first = first_of_group(number), size = size_of_group(number);
  u64 given[kLanes];
  for (uint32_t lane = 0; lane < size; ++lane) given[lane] = item_of(first + lane).value;
  for (uint32_t lane = 0; lane < size; ++lane) {
    FiberItem &item = item_of(first + lane);
    item.value = item.lane < size ? given[item.lane] : kAbsentLane;
    item.state = ItemState::kReady;
    cursor_ = std::min(cursor_, item.slot);
  }
  arrived_[number / kLanes] = 0;
  ready_ += size;
}

GUFUNC_EMULATOR_NO_RACE_CHECK void BlockRunner::fiber_main(void *argument) {
  fiber_entered();
  FiberItem &item = *static_cast<FiberItem *>(argument);
  BlockRunner &runner = *item.runner;
  runner.launch_.entry(&item, runner.launch_.arguments);
  item.state = ItemState::kReturned;
  ++runner.returned_;
  finish_and_switch(runner.stacks_.at(item.slot), *runner.next_fiber());
}

}  // namespace gufunc::emulator
