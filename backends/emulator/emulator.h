// SPDX-License-Identifier: Apache-2.0
// Runs device entries on the host: one call per work-item, one block after the other on the calling
// thread. The items of an entry that synchronises run on fibers.
#ifndef GUFUNC_BACKENDS_EMULATOR_EMULATOR_H
#define GUFUNC_BACKENDS_EMULATOR_EMULATOR_H

#include <cstdint>
#include <gufunc/kernel/work_item.hpp>

namespace gufunc::emulator {

// The limits of a launch, which are the same as for the devices of both vendors.
inline constexpr uint32_t kMaxThreads = 1024;  // per block

struct Launch {
  guf::device::item_entry entry;
  const void *arguments;  // must not change until run() has returned
  uint32_t blocks[3];
  uint32_t threads[3];    // per block
  uint32_t shared_bytes;  // per block; the initial contents are undefined
  bool synchronises;      // the entry may call sync or exchange
  bool descending;        // blocks and items run from the last to the first
  // The range of blocks, counted with x first, and from the last block if `descending`. nblocks 0:
  // all blocks.
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
  // The block that failed (kMissedBarrier, kNotDeclared), else zero.
  uint32_t block[3];
  uint32_t at_sync;      // items that waited for the whole block
  uint32_t at_exchange;  // items that waited for their sub-group
  uint32_t returned;     // items that had returned
};

// Memory that is reused between launches: stacks, and the shared memory of a block.
// Threads  used by one thread at a time.
struct Worker;
Worker *make_worker();  // NULL: no memory
void end_worker(Worker *worker);

// Runs the blocks. After a failure the rest of the launch is skipped; results of earlier items
// stay. A request to a lane that does not exist returns kAbsentLane; on devices the value is
// undefined.
// Errors   see Outcome
Result run(const Launch &launch, Worker &worker);
// The same with a worker that belongs to the calling thread (thread_worker.cc).
Result run(const Launch &launch);

inline constexpr uint64_t kAbsentLane = 0xA5A5'A5A5'A5A5'A5A5u;

// Describes a failure in one line: "3 of 256 items of block (0, 0, 0) have returned, 253 wait ...".
// Writes at most `size` bytes, including the terminating zero.
void describe(const Result &result, char *text, uint64_t size);

}  // namespace gufunc::emulator

#endif  // GUFUNC_BACKENDS_EMULATOR_EMULATOR_H
