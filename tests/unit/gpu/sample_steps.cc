// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gpu/sample_steps.h"

#include <ucontext.h>
#include <gufunc/kernel/device_block.hpp>

#include <cstring>

namespace gufunc::gpu::test {
namespace {

using guf::device::item_entry;
using guf::device::kLanes;
using guf::device::work_item;

constexpr size_t kStackBytes = 64 * 1024;

enum class Wait { kReady, kAtSync, kAtExchange, kDone };

struct BlockRun;

struct Item : work_item {
  BlockRun *run;
  Wait wait;
  uint64_t value, answer;
  uint32_t lane;
  ucontext_t context;
};

// All items of one block take turns, each up to its next barrier.
struct BlockRun {
  item_entry entry;
  const void *arguments;
  std::vector<Item> items;
  std::vector<std::unique_ptr<char[]>> stacks;
  ucontext_t home;
  Item *next = nullptr;

  void run_all();
  void release();
};
thread_local BlockRun *the_run = nullptr;

void item_main() {
  Item *const self = the_run->next;
  self->run->entry(self, self->run->arguments);
  self->wait = Wait::kDone;
  swapcontext(&self->context, &self->run->home);
}

void sync_item(work_item *item) {
  auto *const self = static_cast<Item *>(item);
  self->wait = Wait::kAtSync;
  swapcontext(&self->context, &self->run->home);
}

guf::u64 exchange_item(work_item *item, guf::u64 value, guf::u32 lane) {
  auto *const self = static_cast<Item *>(item);
  self->wait = Wait::kAtExchange;
  self->value = value;
  self->lane = lane;
  swapcontext(&self->context, &self->run->home);
  return self->answer;
}

// Lets go what has come together; a block where nothing can is stuck.
void BlockRun::release() {
  bool any = false;
  bool all_at_sync = true;
  for (const Item &item : items) all_at_sync = all_at_sync && item.wait == Wait::kAtSync;
  if (all_at_sync) {
    for (Item &item : items) item.wait = Wait::kReady;
    return;
  }
  for (size_t first = 0; first < items.size(); first += kLanes) {
    bool together = true;
    for (size_t i = first; i < first + kLanes; ++i) {
      together = together && items[i].wait == Wait::kAtExchange;
    }
    if (!together) continue;
    any = true;
    for (size_t i = first; i < first + kLanes; ++i) {
      items[i].answer = items[first + items[i].lane].value;
      items[i].wait = Wait::kReady;
    }
  }
  ASSERT_TRUE(any) << "threads of a block wait for each other in vain";
}

void BlockRun::run_all() {
  the_run = this;
  for (;;) {
    bool left = false;
    bool ran = false;
    for (Item &item : items) {
      left = left || item.wait != Wait::kDone;
      if (item.wait != Wait::kReady) continue;
      ran = true;
      next = &item;
      swapcontext(&home, &item.context);
    }
    if (!left) return;
    if (!ran) {
      release();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void run_block(item_entry entry, const Step &step, uint32_t block, char *shared, BlockRun *run) {
  run->entry = entry;
  run->arguments = step.block;
  run->items.resize(step.threads);
  while (run->stacks.size() < step.threads) {
    run->stacks.push_back(std::make_unique_for_overwrite<char[]>(kStackBytes));
  }
  for (uint32_t i = 0; i < step.threads; ++i) {
    Item &item = run->items[i];
    static_cast<work_item &>(item) = {
        {i, 0, 0}, {step.threads, 1, 1}, {block, 0, 0}, {step.blocks, 1, 1}, shared,
        sync_item, exchange_item};
    item.run = run;
    item.wait = Wait::kReady;
    getcontext(&item.context);
    item.context.uc_stack.ss_sp = run->stacks[i].get();
    item.context.uc_stack.ss_size = kStackBytes;
    item.context.uc_link = nullptr;
    makecontext(&item.context, item_main, 0);
  }
  run->run_all();
}

bool synchronises(Entry entry) {
  return entry == Entry::kStaged || entry == Entry::kLanes || entry == Entry::kBlock ||
         (entry >= Entry::kTile1 && entry <= Entry::kTile16);
}

}  // namespace

bool SampleSteps::has(Entry entry) const {
  if (entry >= Entry::kLoopEntries) return true;
  return entry != missing && loop_ != nullptr && loop_->entry[static_cast<int>(entry)] != nullptr;
}

guf_status SampleSteps::run(const Step &step, guf_error *) {
  ++steps_run;
  ++used[static_cast<size_t>(step.entry)];
  EXPECT_GT(step.blocks, 0U);
  EXPECT_LT(uint64_t{step.blocks} * step.threads, uint64_t{1} << 32);
  if (step.entry == Entry::kRow) {
    guf::device::row_head head;
    std::memcpy(&head, step.block, sizeof head);
    if ((head.flags & guf::device::kVectors) != 0) ++vectors;
  }
  const item_entry entry = step.entry >= Entry::kLoopEntries
                               ? move_entry(step.entry)
                               : loop_->entry[static_cast<int>(step.entry)];
  // Aligned as devices align it, with its end where it ends.
  const size_t shared_bytes = (step.shared_bytes + 15) / 16 * 16;
  const std::unique_ptr<char, decltype(&std::free)> shared(
      static_cast<char *>(std::aligned_alloc(16, shared_bytes == 0 ? 16 : shared_bytes)),
      &std::free);
  std::vector<char> block(static_cast<const char *>(step.block),
                          static_cast<const char *>(step.block) + step.block_bytes);
  Step copied = step;
  copied.block = block.data();
  BlockRun contexts;
  for (uint32_t b = 0; b < step.blocks; ++b) {
    if (synchronises(step.entry)) {
      run_block(entry, copied, b, shared.get(), &contexts);
      continue;
    }
    for (uint32_t t = 0; t < step.threads; ++t) {
      work_item item = {
          {t, 0, 0}, {step.threads, 1, 1}, {b, 0, 0}, {step.blocks, 1, 1}, shared.get(), nullptr,
          nullptr};
      entry(&item, copied.block);
    }
  }
  return GUF_OK;
}

guf_status SampleSteps::scratch(uint64_t bytes, uint64_t *out_address, guf_error *) {
  if (no_scratch) return GUF_E_DEVICE_MEMORY;
  memory_.push_back(std::make_unique<char[]>(bytes + 256));
  const auto base = reinterpret_cast<uint64_t>(memory_.back().get());
  *out_address = (base + 255) / 256 * 256;
  return GUF_OK;
}

guf_status SampleSteps::upload(const void *source, uint64_t bytes, uint64_t *out_address,
                               guf_error *error) {
  const guf_status made = scratch(bytes, out_address, error);
  if (made == GUF_OK) std::memcpy(reinterpret_cast<void *>(*out_address), source, bytes);
  return made;
}

guf_status SampleSteps::status_word(uint64_t *out_address, guf_error *) {
  *out_address = reinterpret_cast<uint64_t>(&status);
  return GUF_OK;
}

}  // namespace gufunc::gpu::test
