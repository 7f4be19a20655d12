// SPDX-License-Identifier: Apache-2.0
// Runs device entries on the host: one call per work-item, blocks one after the other on the
// calling thread. Items of an entry that synchronises stand on fibers of their own.
#ifndef GUFUNC_BACKENDS_ITEMS_ITEMS_EXECUTOR_H
#define GUFUNC_BACKENDS_ITEMS_ITEMS_EXECUTOR_H

#include <cstdint>
#include <gufunc/kernel/work_item.hpp>

namespace gufunc::items {

// What a launch may ask for at most; the same as both vendors' devices.
inline constexpr uint32_t kMaxThreads = 1024;  // of a block

struct Launch {
  guf::device::item_entry entry;
  const void *arguments;  // stay as they are until run() returned
  uint32_t blocks[3];
  uint32_t threads[3];    // of a block
  uint32_t shared_bytes;  // of a block; what they hold at first is not defined
  bool synchronises;      // the entry may call sync or exchange
  bool descending;        // blocks and items run from the last to the first
  // Which of the blocks, counted x first and from the last one if `descending`; none: all.
  uint64_t first_block = 0, nblocks = 0;
};

enum class Outcome : uint8_t {
  kDone,
  kBadLaunch,      // no block, no thread, or more than kMaxThreads in a block
  kNoMemory,       // for stacks or shared memory
  kMissedBarrier,  // some items of a block wait for others that have returned or wait elsewhere
  kNotDeclared,    // an entry that does not synchronise called sync or exchange
};

struct Result {
  Outcome outcome;
  // Of the block that failed (kMissedBarrier, kNotDeclared); zero else.
  uint32_t block[3];
  uint32_t at_sync;      // items that waited for the whole block
  uint32_t at_exchange;  // items that waited for their sub-group
  uint32_t returned;     // items that had returned
};

// What a line of launches keeps from one to the next: stacks, and shared memory of a block.
// Threads  belongs to one at a time.
struct Worker;
Worker *make_worker();  // NULL: no memory
void end_worker(Worker *worker);

// Runs the blocks. After a failure the rest of the launch is left out; what ran has written.
// A lane that does not exist gives kAbsentLane to those who ask it: devices promise nothing there.
// Errors   see Outcome
Result run(const Launch &launch, Worker &worker);
// The same with a worker of the calling thread's own (thread_worker.cc).
Result run(const Launch &launch);

inline constexpr uint64_t kAbsentLane = 0xA5A5'A5A5'A5A5'A5A5u;

// One line about a failure: "3 of 256 items of block (0, 0, 0) have returned, 253 wait ...". Writes
// at most `size` bytes with the terminating zero.
void describe(const Result &result, char *text, uint64_t size);

}  // namespace gufunc::items

#endif  // GUFUNC_BACKENDS_ITEMS_ITEMS_EXECUTOR_H
