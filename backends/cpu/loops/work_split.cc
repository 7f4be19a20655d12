// SPDX-License-Identifier: Apache-2.0
// Divides a launch into chunks.
#include "backends/cpu/loops/work_split.h"

#include <algorithm>

namespace gufunc::cpu {
namespace {

constexpr uint64_t kSmallestChunkBytes = 64 * 1024;
constexpr uint64_t kLargestChunkBytes = 1024 * 1024;
constexpr uint64_t kChunksPerThread = 8;  // a slow thread then delays the end by at most an eighth
constexpr uint64_t kItemsPerLine = 64;

}  // namespace

uint64_t work_of(const guf_launch_block &block) {
  uint64_t work = block.items;
  for (int i = 1; i <= block.ncore; ++i) {
    const auto size = static_cast<uint64_t>(std::max<int64_t>(block.size[i], 1));
    if (__builtin_mul_overflow(work, size, &work)) return UINT64_MAX;
  }
  return work;
}

Split split_items(uint64_t items, uint64_t work, uint64_t bytes, uint32_t threads) {
  Split split;
  split.chunk_items = items;
  if (items < 2 || work < kParallelWork || threads < 2) return split;
  const uint64_t item_work = std::max<uint64_t>(work / items, 1);
  const uint64_t item_bytes = std::max<uint64_t>(bytes / items, 1);
  const uint64_t even = items / (threads * kChunksPerThread) + 1;
  // For items with much work per byte (matrix products), the work determines the smallest chunk;
  // for other items, the number of bytes does.
  const uint64_t least =
      std::min(kSmallestChunkBytes / item_bytes, kParallelWork / 4 / item_work) + 1;
  const uint64_t most = std::max(kLargestChunkBytes / item_bytes, least);
  uint64_t chunk = std::clamp(even, least, most);
  chunk = std::max(chunk, items / ThreadPool::kMaxChunks + 1);
  if (chunk >= kItemsPerLine) chunk = (chunk + kItemsPerLine - 1) / kItemsPerLine * kItemsPerLine;
  split.chunk_items = chunk;
  split.chunks = static_cast<uint32_t>((items - 1) / chunk + 1);
  split.wake = work >= kWakeWork ? ThreadPool::Wake::kYes : ThreadPool::Wake::kNo;
  return split;
}

void widen_chunks(Split *split, uint64_t items, int64_t step) {
  const auto unit = static_cast<uint64_t>(step);
  const uint64_t units = (items - 1) / unit + 1;
  const uint64_t chunk = (std::min(split->chunk_items, items) - 1) / unit + 1;
  split->chunks = static_cast<uint32_t>((units - 1) / chunk + 1);
  split->chunk_items = chunk * unit;
}

}  // namespace gufunc::cpu
