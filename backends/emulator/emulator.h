// SPDX-License-Identifier: Apache-2.0
// Runs the entries of device kernels on the host. Each work-item is one call of the entry. Blocks
// run one after the other on the calling thread. If an entry calls barriers, its work-items run on
// fibers.
#ifndef GUFUNC_BACKENDS_EMULATOR_EMULATOR_H
#define GUFUNC_BACKENDS_EMULATOR_EMULATOR_H

#include <cstdint>
#include <gufunc/kernel/work_item.hpp>

namespace gufunc::emulator {

// The limit of a launch, which is the same as on the devices of both vendors.
inline constexpr uint32_t kMaxThreads = 1024;  // threads of a block

struct Launch {
  guf::device::item_entry entry;
  const void *arguments;  // must not change until run() returns
  uint32_t blocks[3];
  uint32_t threads[3];    // number of threads of a block in each dimension
  uint32_t shared_bytes;  // size for each block; the initial contents are undefined
  bool synchronizes;      // the entry may call sync or shuffle
  bool descending;        // blocks and items run from the last to the first
  // The range of blocks to run. Blocks are numbered with x fastest, from the last block on if
  // `descending` is set. If nblocks is 0, all blocks run.
  uint64_t first_block = 0, nblocks = 0;
};

enum class Outcome : uint8_t {
  kDone,
  kBadLaunch,      // no entry, block or thread, too many threads, or a range outside the launch
  kNoMemory,       // no memory for stacks or for shared memory
  kMissedBarrier,  // items wait at a barrier that other items do not reach
  kNotDeclared,    // an entry called a barrier but is declared without barriers
};

struct Result {
  Outcome outcome;
  // The index of the failed block if the outcome is kMissedBarrier or kNotDeclared, otherwise zero.
  uint32_t block[3];
  uint32_t at_sync;     // number of items that waited for the whole block
  uint32_t at_shuffle;  // number of items that waited for their sub-group
  uint32_t returned;    // number of items that had returned
};

// A worker keeps the memory that launches reuse: the stacks and the shared memory of a block.
// Threads  used by one thread at a time
struct Worker;
Worker *make_worker();  // returns NULL if there is no memory
void end_worker(Worker *worker);

// Runs the blocks of a launch. After a failure, the remaining blocks are skipped, but the results
// of earlier items remain. A shuffle with a lane that does not exist returns kAbsentLane; on
// devices it returns an undefined value.
// Errors   see Outcome
Result run(const Launch &launch, Worker &worker);
// Runs the blocks of a launch with a worker that belongs to the calling thread (thread_worker.cc).
Result run(const Launch &launch);

inline constexpr uint64_t kAbsentLane = 0xA5A5'A5A5'A5A5'A5A5u;

// Describes a failure in one line, such as "in block (0, 0, 0) 3 work-items have returned, ...".
// Writes at most `size` bytes, including the terminating NUL.
void describe(const Result &result, char *text, uint64_t size);

}  // namespace gufunc::emulator

#endif  // GUFUNC_BACKENDS_EMULATOR_EMULATOR_H
