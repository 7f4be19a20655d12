// SPDX-License-Identifier: Apache-2.0
// Launches: straight into the loop when small, in claimed chunks when large.
//
// PERF  A launch of one item is a test of flags, three pointer copies and the indirect call (bench:
// cpu_launch_one_item). No allocation, no lock, no formatting on any path that succeeds without
// staging.
#include "backends/cpu/cpu_launch.h"

#include <algorithm>
#include <atomic>

#include "backends/cpu/claim_pool.h"
#include "backends/cpu/cpu_host.h"
#include "backends/cpu/crossed_loop.h"
#include "backends/cpu/dtype_layout.h"
#include "backends/cpu/item_walk.h"
#include "backends/cpu/known_status.h"
#include "backends/cpu/streamed_loop.h"
#include "backends/cpu/work_split.h"

namespace gufunc::cpu {
namespace {

constexpr uint32_t kNeedsWalk = GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;

// A launch that several threads take chunks of. Keeps the first failure.
struct SharedLaunch {
  const guf_launch_block *block;
  const HostLoop *loop;
  guf_error *error;
  uint64_t chunk_items;
  std::atomic<guf_status> status{GUF_OK};
};

void run_chunk(void *context, uint32_t chunk) {
  auto &shared = *static_cast<SharedLaunch *>(context);
  if (shared.status.load(std::memory_order_relaxed) != GUF_OK) return;
  const uint64_t first = chunk * shared.chunk_items;
  const uint64_t last = std::min(first + shared.chunk_items, shared.block->items);
  guf_error details;  // each thread has its own; the first failure's is kept
  details.struct_size = sizeof(details);
  details.status = GUF_OK;
  const guf_status status = run_items(*shared.block, *shared.loop, first, last, &details);
  if (status == GUF_OK) return;
  guf_status none = GUF_OK;
  if (!shared.status.compare_exchange_strong(none, status, std::memory_order_acq_rel)) return;
  if (shared.error != nullptr && details.status != GUF_OK) *shared.error = details;
}

// Bytes of all operands together. Saturates.
uint64_t bytes_of(const guf_launch_block &block) {
  uint64_t item_bytes = 0;
  int stride = 0;
  for (int i = 0; i < block.noperands; ++i) {
    uint64_t bytes = dtype_bytes(block.dtype[i]);
    for (int d = 0; d < block.core_ndim[i]; ++d) {
      const int64_t size = block.size[1 + block.core_name[stride++]];
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) return UINT64_MAX;
    }
    if (__builtin_add_overflow(item_bytes, bytes, &item_bytes)) return UINT64_MAX;
  }
  uint64_t total;
  return __builtin_mul_overflow(item_bytes, block.items, &total) ? UINT64_MAX : total;
}

guf_status run_shared(const guf_backend_launch &launch, const HostLoop &loop, uint64_t work,
                      guf_error *error) {
  const guf_launch_block &block = *launch.block;
  ClaimPool &pool = claim_pool();
  const uint32_t threads =
      launch.max_threads == 0 ? pool.threads() : std::min(launch.max_threads, pool.threads());
  Split split = split_items(block.items, work, bytes_of(block), threads);
  if (crossed_way(block).is_crossed()) {
    widen_chunks(&split, block.items, kCrossedRows * block.size[0]);
  }
  if (split.chunks < 2) return run_items(block, loop, 0, block.items, error);
  SharedLaunch shared{&block, &loop, error, split.chunk_items};
  pool.run(split.chunks, threads, split.wake, run_chunk, &shared);
  return shared.status.load(std::memory_order_acquire);
}

guf_status run_launch(const guf_backend_launch &launch, const HostLoop &loop, guf_error *error) {
  const guf_launch_block &block = *launch.block;
  const bool any_thread = (block.flags & GUF_LAUNCH_ANY_THREAD) != 0 && launch.max_threads != 1;
  // Elementwise work is its items; a cheap test that also lets small generalized launches through.
  const bool small = !any_thread || (block.items < kParallelWork && work_of(block) < kParallelWork);
  const bool plain =
      block.nloop <= 1 && block.items < kFewestStreamedItems && (block.flags & kNeedsWalk) == 0;
  if (__builtin_expect(small && plain, 1)) {
    if (block.items == 0) return GUF_OK;
    char *args[GUF_MAX_OPERANDS];  // a loop may change what it is given
    for (int i = 0; i < block.noperands; ++i) args[i] = reinterpret_cast<char *>(block.address[i]);
    return loop(args, block.size, block.step);
  }
  if (small) return run_items(block, loop, 0, block.items, error);
  return run_shared(launch, loop, work_of(block), error);
}

[[gnu::noinline]] guf_status run_watched(const guf_backend_launch &launch, HostLoop &loop,
                                         guf_error *error) {
  EventWatch watch(*launch.block, *launch.watch);
  loop.watch = &watch;
  const guf_status status = run_launch(launch, loop, error);
  if (status == kLoopFailed) {
    return fail_loop(loop.failure->load(std::memory_order_acquire), launch.failure, error);
  }
  return status != GUF_OK ? status : watch.finish(error);
}

}  // namespace

guf_status fail_loop(guf_status returned, const char *failure, guf_error *error) {
  if (returned == GUF_E_VALUE && failure != nullptr) {
    return fail(error, returned, kNone, kNone, "%s", failure);
  }
  const guf_status status = is_error(returned) ? returned : guf_status{GUF_E_LOOP};
  fail(error, status, kNone, kNone, "a loop failed with status %d", returned);
  if (status != returned && error != nullptr && error->struct_size == sizeof(*error)) {
    error->native_code = returned;
  }
  return status;
}

guf_status execute_launch(const guf_backend_launch &launch, guf_error *error) {
  std::atomic<guf_status> failure{GUF_OK};
  HostLoop loop{launch.kernel, launch.user, (launch.block->flags & GUF_LAUNCH_STATUS) != 0,
                &failure};
  if (__builtin_expect(launch.watch != nullptr, 0)) return run_watched(launch, loop, error);
  const guf_status status = run_launch(launch, loop, error);
  if (__builtin_expect(status != kLoopFailed, 1)) return status;
  return fail_loop(failure.load(std::memory_order_acquire), launch.failure, error);
}

}  // namespace gufunc::cpu
