// SPDX-License-Identifier: Apache-2.0
// Launches: straight into the loop when small, in claimed chunks when large.
//
// PERF  A launch of one item is a test of flags, three pointer copies and the indirect call (bench:
// cpu_launch_one_item). No allocation, no lock, no formatting on any path that succeeds without
// staging.
#include "backends/cpu/cpu_launch.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "backends/cpu/claim_pool.h"
#include "backends/cpu/cpu_host.h"
#include "backends/cpu/launch_way.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kNoChunk = UINT32_MAX;

// A launch that several threads take chunks of. Keeps the failure of the first chunk that fails in
// the order of the items: chunks behind it need not run, those before it do. So what a launch
// returns does not depend on which thread was faster.
struct SharedLaunch {
  const guf_launch_block *block;
  const HostLoop *loop;
  const LaunchWay *way;
  guf_error *error;
  std::atomic<uint32_t> failed_chunk{kNoChunk};
  std::mutex failing;  // taken by chunks that failed; guards `status`, `error`, `loop->failure`
  guf_status status = GUF_OK;

  void fail(uint32_t chunk, guf_status failed, const LoopFailure &said, const guf_error &details) {
    const std::lock_guard<std::mutex> lock(failing);
    if (chunk > failed_chunk.load(std::memory_order_relaxed)) return;
    failed_chunk.store(chunk, std::memory_order_relaxed);
    status = failed;
    if (failed == kLoopFailed) loop->failure->replace(said);
    if (error != nullptr && details.status != GUF_OK) *error = details;
  }
};

void run_chunk(void *context, uint32_t chunk) {
  auto &shared = *static_cast<SharedLaunch *>(context);
  if (chunk > shared.failed_chunk.load(std::memory_order_relaxed)) return;
  const uint64_t chunk_items = shared.way->split.chunk_items;
  const uint64_t first = chunk * chunk_items;
  const uint64_t last = std::min(first + chunk_items, shared.block->items);
  guf_error details;  // each chunk has its own, and its own failure of the loop
  details.struct_size = sizeof(details);
  details.status = GUF_OK;
  LoopFailure said;
  HostLoop loop = *shared.loop;
  loop.failure = &said;
  const guf_status status =
      run_items(*shared.block, loop, shared.way->items, first, last, &details);
  if (status == GUF_OK) return;
  shared.fail(chunk, status, said, details);
}

guf_status run_shared(const guf_launch_block &block, const HostLoop &loop, const LaunchWay &way,
                      guf_error *error) {
  SharedLaunch shared;
  shared.block = &block;
  shared.loop = &loop;
  shared.way = &way;
  shared.error = error;
  claim_pool().run(way.split.chunks, way.threads, way.split.wake, run_chunk, &shared);
  return shared.status;
}

guf_status run_launch(const guf_backend_launch &launch, const HostLoop &loop, guf_error *error) {
  const guf_launch_block &block = *launch.block;
  if (__builtin_expect(is_one_call(block, alone_of(block, launch.max_threads)), 1)) {
    if (block.items == 0) return GUF_OK;
    char *args[GUF_MAX_OPERANDS];  // a loop may change what it is given
    for (int i = 0; i < block.noperands; ++i) args[i] = reinterpret_cast<char *>(block.address[i]);
    return loop(args, block.size, block.step);
  }
  const LaunchWay way = launch_way(block, launch.max_threads);
  if (way.alone == Alone::kNo) return run_shared(block, loop, way, error);
  return run_items(block, loop, way.items, 0, block.items, error);
}

[[gnu::noinline]] guf_status run_watched(const guf_backend_launch &launch, HostLoop &loop,
                                         guf_error *error) {
  EventWatch watch(*launch.block, *launch.watch);
  loop.watch = &watch;
  const guf_status status = run_launch(launch, loop, error);
  if (status == kLoopFailed) return loop.failure->report(launch.failure, error);
  return status != GUF_OK ? status : watch.finish(error);
}

}  // namespace

guf_status fail_flags(uint32_t unknown, guf_error *error) {
  return fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
              "launch flags: 0x%x is not known to this plugin", unknown);
}

guf_status execute_launch(const guf_backend_launch &launch, guf_error *error) {
  LoopFailure failure;
  HostLoop loop{launch.kernel, launch.user, says_of(*launch.block), &failure};
  if (__builtin_expect(launch.watch != nullptr, 0)) return run_watched(launch, loop, error);
  const guf_status status = run_launch(launch, loop, error);
  if (__builtin_expect(status != kLoopFailed, 1)) return status;
  return failure.report(launch.failure, error);
}

}  // namespace gufunc::cpu
