// SPDX-License-Identifier: Apache-2.0
// Chooses the number of threads, the chunks and the traversal of a launch.
#include "backends/cpu/loops/launch_strategy.h"

#include <algorithm>

#include "backends/cpu/loops/dtype_layout.h"

namespace gufunc::cpu {
namespace {

// Returns the size of all operands in bytes, or UINT64_MAX on overflow.
uint64_t bytes_of(const guf_launch_block &block) {
  uint64_t item_bytes = 0;
  int stride = 0;
  for (int i = 0; i < block.noperands; ++i) {
    uint64_t bytes = dtype_size(block.dtype[i]);
    for (int d = 0; d < block.core_ndim[i]; ++d) {
      const int64_t size = block.size[1 + block.core_name[stride++]];
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) return UINT64_MAX;
    }
    if (__builtin_add_overflow(item_bytes, bytes, &item_bytes)) return UINT64_MAX;
  }
  uint64_t total;
  return __builtin_mul_overflow(item_bytes, block.items, &total) ? UINT64_MAX : total;
}

}  // namespace

LaunchStrategy launch_strategy(const guf_launch_block &block, uint32_t max_threads,
                               const LoopCost &cost) {
  LaunchStrategy strategy;
  const uint64_t work = work_of(block);
  strategy.serial = serial_reason(block, max_threads);
  strategy.weight = cost.weigh(work);
  strategy.threads = 1;
  strategy.items = item_traversal(block);
  strategy.split.chunk_items = block.items;
  if (strategy.serial != SerialReason::kNotSerial) return strategy;
  const uint64_t weight = weight_for_requested_threads(strategy.weight, max_threads);
  if (thread_pool().threads() == 1) {
    strategy.serial = weight < kParallelWork ? SerialReason::kTooSmall : SerialReason::kOneThread;
  } else if (weight < kParallelWork) {
    strategy.serial = cost.is_known() ? SerialReason::kTooSmall : SerialReason::kUnknownCost;
  } else {
    share_items(block, 0, weight, max_threads, &strategy);
  }
  return strategy;
}

void share_items(const guf_launch_block &block, uint64_t first, uint64_t weight,
                 uint32_t max_threads, LaunchStrategy *strategy) {
  const uint64_t items = block.items - first;
  const uint64_t bytes = bytes_of(block) / block.items * items;
  const uint32_t granted = thread_pool().threads();
  strategy->serial = SerialReason::kNotSerial;
  strategy->threads = max_threads == 0 ? granted : std::min(max_threads, granted);
  strategy->split = split_items(items, weight, bytes, strategy->threads);
  if (strategy->items.walk == Walk::kTiles) {
    widen_chunks(&strategy->split, items, kTileRows * block.size[0]);
  }
  strategy->threads = std::min(strategy->threads, strategy->split.chunks);
  if (strategy->split.chunks < 2) strategy->serial = SerialReason::kOneChunk;
}

}  // namespace gufunc::cpu
