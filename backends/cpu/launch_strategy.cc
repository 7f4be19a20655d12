// SPDX-License-Identifier: Apache-2.0
// The pool's threads, the chunks, the walk.
#include "backends/cpu/launch_way.h"

#include <algorithm>

#include "backends/cpu/dtype_layout.h"

namespace gufunc::cpu {
namespace {

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

}  // namespace

LaunchWay launch_way(const guf_launch_block &block, uint32_t max_threads, const LoopCost &cost) {
  LaunchWay way;
  const uint64_t work = work_of(block);
  way.alone = alone_of(block, max_threads);
  way.weight = cost.weigh(work);
  way.threads = 1;
  way.items = item_way(block);
  way.split.chunk_items = block.items;
  if (way.alone != Alone::kNo) return way;
  const uint64_t weight = ordered_work(way.weight, max_threads);
  if (claim_pool().threads() == 1) {
    way.alone = weight < kParallelWork ? Alone::kSmall : Alone::kGranted;
  } else if (weight < kParallelWork) {
    way.alone = cost.is_known() ? Alone::kSmall : Alone::kNew;
  } else {
    share_items(block, 0, weight, max_threads, &way);
  }
  return way;
}

void share_items(const guf_launch_block &block, uint64_t first, uint64_t weight,
                 uint32_t max_threads, LaunchWay *way) {
  const uint64_t items = block.items - first;
  const uint64_t bytes = bytes_of(block) / block.items * items;
  const uint32_t granted = claim_pool().threads();
  way->alone = Alone::kNo;
  way->threads = max_threads == 0 ? granted : std::min(max_threads, granted);
  way->split = split_items(items, weight, bytes, way->threads);
  if (way->items.walk == Walk::kTiles) {
    widen_chunks(&way->split, items, kCrossedRows * block.size[0]);
  }
  way->threads = std::min(way->threads, way->split.chunks);
  if (way->split.chunks < 2) way->alone = Alone::kWhole;
}

}  // namespace gufunc::cpu
