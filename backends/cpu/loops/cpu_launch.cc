// SPDX-License-Identifier: Apache-2.0
// Runs launches. A small launch calls the loop directly; a large launch is divided into chunks that
// threads claim.
//
// PERF  A launch of one item costs a test of flags, three pointer copies and the indirect call
//       (bench: cpu_launch_one_item).
//       Successful launches without staging do not allocate, lock or format text.
#include "backends/cpu/loops/cpu_launch.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/launch_strategy.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kNoChunk = UINT32_MAX;

// Returns the number of elements of one item, counted as in work_of.
uint64_t item_work(const guf_launch_block &block) {
  return work_of(block) / block.items;
}

// Returns whether the launch is known to be so short that reading the clock is too expensive. For
// one short launch in 16, returns false, so that the launch is timed, because the cost may depend
// on the data.
inline bool is_short(const guf_launch_block &block, uint32_t max_threads, const LoopCost &cost) {
  return cost.is_known() && max_threads == 0 && block.items < kTimedWork &&
         cost.weigh(work_of(block)) < kTimedWork && !is_sample();
}

// A launch whose chunks are claimed by several threads. If chunks fail, the launch reports
// the failure of the failed chunk with the lowest number: chunks after it are skipped,
// chunks before it run. The result therefore does not depend on the speed of the threads.
struct SharedLaunch {
  const guf_launch_block *block;
  const HostLoop *loop;
  const LaunchStrategy *strategy;
  LoopCost cost;
  uint64_t first;      // first item of the first chunk
  uint64_t item_work;  // elements of one item, counted as in work_of
  guf_error *error;
  std::atomic<uint32_t> failed_chunk{kNoChunk};
  std::mutex failing;  // protects `status`, `error` and `loop->failure`
  guf_status status = GUF_OK;

  void fail(uint32_t chunk, guf_status failed, const LoopFailure &reported,
            const guf_error &details) {
    const std::lock_guard<std::mutex> lock(failing);
    if (chunk > failed_chunk.load(std::memory_order_relaxed)) return;
    failed_chunk.store(chunk, std::memory_order_relaxed);
    status = failed;
    if (failed == kLoopFailed) loop->failure->replace(reported);
    if (error != nullptr && details.status != GUF_OK) *error = details;
  }
};

void run_chunk(void *context, uint32_t chunk) {
  auto &shared = *static_cast<SharedLaunch *>(context);
  if (chunk > shared.failed_chunk.load(std::memory_order_relaxed)) return;
  const uint64_t chunk_items = shared.strategy->split.chunk_items;
  const uint64_t first = shared.first + chunk * chunk_items;
  const uint64_t last = std::min(first + chunk_items, shared.block->items);
  guf_error details;  // each chunk has its own error record and its own LoopFailure
  details.struct_size = sizeof(details);
  details.status = GUF_OK;
  LoopFailure reported;
  HostLoop loop = *shared.loop;
  loop.failure = &reported;
  const Stopwatch stopwatch;
  const guf_status status =
      run_items(*shared.block, loop, shared.strategy->items, first, last, &details);
  if (status == GUF_OK) {
    LoopCost cost = shared.cost;
    return cost.record((last - first) * shared.item_work, stopwatch.ns());
  }
  shared.fail(chunk, status, reported, details);
}

// Runs the items from `first` to the last one on several threads.
guf_status run_shared(const guf_launch_block &block, const HostLoop &loop,
                      const LaunchStrategy &strategy, const LoopCost &cost, uint64_t first,
                      guf_error *error) {
  SharedLaunch shared{&block, &loop, &strategy, cost, first, item_work(block), error};
  thread_pool().run(strategy.split.chunks, strategy.threads, strategy.split.wake, run_chunk,
                    &shared);
  return shared.status;
}

guf_status run_timed(const guf_launch_block &block, const HostLoop &loop,
                     const ItemTraversal &items, LoopCost *cost, uint64_t first, uint64_t last,
                     guf_error *error) {
  const Stopwatch stopwatch;
  GUF_BACKEND_TRY(run_items(block, loop, items, first, last, error));
  cost->record((last - first) * item_work(block), stopwatch.ns());
  return GUF_OK;
}

// Runs a launch of few items whose loop was never measured. The measured cost of the first items
// decides how the remaining items run.
[[gnu::noinline]] guf_status run_new(const guf_backend_launch &launch, const HostLoop &loop,
                                     LaunchStrategy *strategy, LoopCost *cost, guf_error *error) {
  const guf_launch_block &block = *launch.block;
  uint64_t unit = 1;
  if (strategy->items.walk == Walk::kTiles) unit = static_cast<uint64_t>(kTileRows * block.size[0]);
  const Stopwatch stopwatch;
  uint64_t done = std::min(unit, block.items);
  GUF_BACKEND_TRY(run_items(block, loop, strategy->items, 0, done, error));
  const uint64_t ns = stopwatch.ns();
  if (ns >= kColdNs || block.items - done <= unit) {
    cost->record(done * item_work(block), ns);
  } else {
    GUF_BACKEND_TRY(run_timed(block, loop, strategy->items, cost, done, done + unit, error));
    done += unit;
  }
  if (done == block.items) return GUF_OK;
  const uint64_t weight = cost->weigh((block.items - done) * item_work(block));
  if (weight >= kMinUnmeasuredWork) {
    share_items(block, done, weight, launch.max_threads, strategy);
    if (strategy->serial == SerialReason::kNotSerial)
      return run_shared(block, loop, *strategy, *cost, done, error);
  }
  return run_timed(block, loop, strategy->items, cost, done, block.items, error);
}

// Runs a launch that is a single call of the loop.
inline guf_status run_one_call(const guf_launch_block &block, const HostLoop &loop) {
  char *args[GUF_MAX_OPERANDS];  // a loop may modify its argument arrays
  for (int i = 0; i < block.noperands; ++i) args[i] = reinterpret_cast<char *>(block.address[i]);
  return loop(args, block.size, block.step);
}

// Runs a launch that may be divided among several threads or into several calls.
[[gnu::noinline]] guf_status run_many(const guf_backend_launch &launch, const HostLoop &loop,
                                      SerialReason serial, guf_error *error) {
  const guf_launch_block &block = *launch.block;
  if (serial != SerialReason::kNotSerial)
    return run_items(block, loop, item_traversal(block), 0, block.items, error);
  LoopCost cost(launch.kernel, launch.user);
  if (is_short(block, launch.max_threads, cost)) {
    if (is_one_call(block, SerialReason::kTooSmall)) return run_one_call(block, loop);
    return run_items(block, loop, item_traversal(block), 0, block.items, error);
  }
  LaunchStrategy strategy = launch_strategy(block, launch.max_threads, cost);
  if (strategy.serial == SerialReason::kUnknownCost)
    return run_new(launch, loop, &strategy, &cost, error);
  if (strategy.serial == SerialReason::kNotSerial)
    return run_shared(block, loop, strategy, cost, 0, error);
  return run_timed(block, loop, strategy.items, &cost, 0, block.items, error);
}

inline guf_status run_launch(const guf_backend_launch &launch, const HostLoop &loop,
                             guf_error *error) {
  const guf_launch_block &block = *launch.block;
  const SerialReason serial = serial_reason(block, launch.max_threads);
  if (__builtin_expect(!is_one_call(block, serial), 0))
    return run_many(launch, loop, serial, error);
  return block.items == 0 ? guf_status{GUF_OK} : run_one_call(block, loop);
}

[[gnu::noinline]] guf_status run_with_fp_status(const guf_backend_launch &launch, HostLoop &loop,
                                                guf_error *error) {
  FpStatus fp_status(*launch.block, *launch.fp_status);
  loop.fp_status = &fp_status;
  const guf_status status = run_launch(launch, loop, error);
  if (status == kLoopFailed) return loop.failure->report(launch.failure, error);
  return status != GUF_OK ? status : fp_status.finish(error);
}

}  // namespace

guf_status fail_flags(uint32_t unknown, guf_error *error) {
  return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
              "launch flags: 0x%x is not known to this plugin", unknown);
}

guf_status execute_launch(const guf_backend_launch &launch, guf_error *error) {
  LoopFailure failure;
  HostLoop loop{launch.kernel, launch.user, loop_kind_of(*launch.block), &failure};
  if (__builtin_expect(launch.fp_status != nullptr, 0))
    return run_with_fp_status(launch, loop, error);
  const guf_status status = run_launch(launch, loop, error);
  if (__builtin_expect(status != kLoopFailed, 1)) return status;
  return failure.report(launch.failure, error);
}

}  // namespace gufunc::cpu
