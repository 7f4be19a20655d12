// SPDX-License-Identifier: Apache-2.0
#include "backends/emulator/emulator.h"

#include <gufunc/float_control.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "backends/emulator/block_runner.h"

namespace gufunc::emulator {
namespace {

using guf::u32;
using guf::u64;
using guf::device::work_item;

// The shared memory of one block. The allocation has exactly the requested size, so that
// AddressSanitizer detects accesses beyond its end.
class SharedBlock {
 public:
  SharedBlock() = default;
  SharedBlock(const SharedBlock &) = delete;
  SharedBlock &operator=(const SharedBlock &) = delete;
  ~SharedBlock() { std::free(memory_); }

  // Returns memory of `bytes` bytes, or NULL if there is no memory. The result for 0 bytes must not
  // be accessed.
  char *get(uint32_t bytes) {
    if (bytes == bytes_) return static_cast<char *>(memory_);
    std::free(memory_);
    memory_ = nullptr;
    bytes_ = 0;
    if (posix_memalign(&memory_, 256, bytes) != 0) memory_ = nullptr;
    if (memory_ != nullptr) bytes_ = bytes;
    return static_cast<char *>(memory_);
  }

 private:
  void *memory_ = nullptr;
  uint32_t bytes_ = 0;
};

// A work-item of an entry that is declared without barriers. `called` records whether the entry
// called a barrier.
struct PlainItem : work_item {
  bool called;
};

void plain_sync(work_item *self) {
  static_cast<PlainItem *>(self)->called = true;
}
u64 plain_shuffle(work_item *self, u64, u32) {
  static_cast<PlainItem *>(self)->called = true;
  return kAbsentLane;
}

uint64_t blocks_of(const Launch &launch) {
  return uint64_t{launch.blocks[0]} * launch.blocks[1] * launch.blocks[2];
}

bool well_formed(const Launch &launch) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.blocks[i] == 0 || launch.threads[i] == 0 || launch.threads[i] > kMaxThreads) {
      return false;
    }
    threads *= launch.threads[i];
  }
  if (launch.first_block + launch.nblocks > blocks_of(launch)) return false;
  return threads <= kMaxThreads && launch.entry != nullptr;
}

// Calls f(place) for the positions [first, end) of a box, numbered with x fastest.
// Stops when f returns false.
template <class F>
void for_each_place(const uint32_t (&size)[3], bool descending, uint64_t first, uint64_t end, F f) {
  const uint64_t all = uint64_t{size[0]} * size[1] * size[2];
  const uint64_t start = descending ? all - 1 - first : first;
  uint32_t place[3] = {static_cast<uint32_t>(start % size[0]),
                       static_cast<uint32_t>(start / size[0] % size[1]),
                       static_cast<uint32_t>(start / size[0] / size[1])};
  for (uint64_t i = first; i < end; ++i) {
    if (!f(place)) return;
    for (int d = 0; d < 3; ++d) {
      const uint32_t last = size[d] - 1;
      if (place[d] != (descending ? 0 : last)) {
        place[d] += descending ? ~0u : 1u;
        break;
      }
      place[d] = descending ? last : 0;
    }
  }
}

Outcome run_plain_block(const Launch &launch, PlainItem &item, const uint32_t (&block)[3]) {
  std::copy_n(block, 3, item.block);
  const uint64_t threads = uint64_t{item.threads[0]} * item.threads[1] * item.threads[2];
  for_each_place(launch.threads, launch.descending, 0, threads, [&](const uint32_t(&thread)[3]) {
    std::copy_n(thread, 3, item.thread);
    launch.entry(&item, launch.arguments);
    return true;
  });
  return item.called ? Outcome::kNotDeclared : Outcome::kDone;
}

}  // namespace

struct Worker {
  BlockRunner runner;
  SharedBlock shared;
};

Worker *make_worker() {
  return new (std::nothrow) Worker;
}

void end_worker(Worker *worker) {
  delete worker;
}

Result run(const Launch &launch, Worker &worker) {
  const DefaultFloatControl control;
  Result result = {};
  if (!well_formed(launch)) {
    result.outcome = Outcome::kBadLaunch;
    return result;
  }
  char *shared = worker.shared.get(launch.shared_bytes);
  if ((launch.shared_bytes != 0 && shared == nullptr) ||
      (launch.synchronizes && !worker.runner.prepare(launch, shared))) {
    result.outcome = Outcome::kNoMemory;
    return result;
  }
  PlainItem item = {};
  std::copy_n(launch.threads, 3, item.threads);
  std::copy_n(launch.blocks, 3, item.blocks);
  item.shared = shared;
  item.sync = plain_sync;
  item.shuffle = plain_shuffle;
  const uint64_t first = launch.nblocks == 0 ? 0 : launch.first_block;
  const uint64_t end = first + (launch.nblocks == 0 ? blocks_of(launch) : launch.nblocks);
  for_each_place(launch.blocks, launch.descending, first, end, [&](const uint32_t(&block)[3]) {
    result.outcome = launch.synchronizes ? worker.runner.run_block(block, result)
                                         : run_plain_block(launch, item, block);
    if (result.outcome != Outcome::kDone) std::copy_n(block, 3, result.block);
    return result.outcome == Outcome::kDone;
  });
  return result;
}

void describe(const Result &result, char *text, uint64_t size) {
  const uint32_t *b = result.block;
  switch (result.outcome) {
    case Outcome::kDone:
      std::snprintf(text, size, "all work-items have returned");
      return;
    case Outcome::kBadLaunch:
      std::snprintf(text, size, "expected at least 1 block of 1 to %u threads", kMaxThreads);
      return;
    case Outcome::kNoMemory:
      std::snprintf(text, size, "no memory for stacks or shared memory of a block");
      return;
    case Outcome::kMissedBarrier:
      std::snprintf(text, size,
                    "in block (%u, %u, %u), %u work-items have returned, %u wait at a barrier of "
                    "the block and %u at a barrier of their sub-group",
                    b[0], b[1], b[2], result.returned, result.at_sync, result.at_shuffle);
      return;
    case Outcome::kNotDeclared:
      std::snprintf(text, size,
                    "a work-item of block (%u, %u, %u) called a barrier, but its entry is declared "
                    "without barriers",
                    b[0], b[1], b[2]);
      return;
  }
}

}  // namespace gufunc::emulator
