// SPDX-License-Identifier: Apache-2.0
// The costs of loops are in a hash table without chains or locks. If two threads write the same
// entry at the same time, the entry may combine the key of one loop with the cost of another. The
// estimate is then wrong until the next measurement.
#include "backends/cpu/loops/work_split.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace gufunc::cpu {
namespace {

constexpr uint64_t kSlots = 1024;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio: spreads similar numbers
constexpr float kUsualNs = 1000.0F / LoopCost::kElementsPerMicrosecond;

uint64_t key_of(const void *entry, const void *user) {
  const auto a = reinterpret_cast<uint64_t>(entry), b = reinterpret_cast<uint64_t>(user);
  return a * kGolden ^ (b << 32 | b >> 32);
}

constexpr uint64_t kSmallestChunkBytes = 64 * 1024;
constexpr uint64_t kLargestChunkBytes = 1024 * 1024;
constexpr uint64_t kChunksPerThread = 8;  // a slow thread then delays the end by at most an eighth
constexpr uint64_t kItemsPerLine = 64;

}  // namespace

struct LoopCost::Entry {
  std::atomic<uint64_t> key;
  std::atomic<float> factor;
};

constinit LoopCost::Entry LoopCost::table[kSlots] = {};

LoopCost::LoopCost(const void *entry, const void *user)
    : key_(key_of(entry, user)), entry_(table[(key_ ^ key_ >> 32) % kSlots]) {
  const bool ours = entry_.key.load(std::memory_order_relaxed) == key_;
  factor_ = ours ? entry_.factor.load(std::memory_order_relaxed) : 0;
}

uint64_t LoopCost::weigh(uint64_t work) const {
  if (factor_ <= 1) return work;
  const double weight = static_cast<double>(work) * static_cast<double>(factor_);
  constexpr double kMax = 0x1p63;
  return weight < kMax ? static_cast<uint64_t>(weight) : std::numeric_limits<uint64_t>::max();
}

// If the new cost is higher than the stored cost, only a quarter of the difference is added,
// because the cost may depend on the data and the thread may have been interrupted. A lower cost
// replaces the stored cost immediately.
void LoopCost::record(uint64_t work, uint64_t ns) {
  if (work == 0) return;
  const float each = static_cast<float>(ns) / static_cast<float>(work);
  const float factor = std::max(each / kUsualNs, std::numeric_limits<float>::min());
  factor_ = is_known() && factor > factor_ ? factor_ + (factor - factor_) / 4 : factor;
  entry_.factor.store(factor_, std::memory_order_relaxed);
  entry_.key.store(key_, std::memory_order_relaxed);
}

// The counters are not thread_local: the dynamic loader allocates the thread-local variables of a
// plugin at their first use, and ends the process if it finds no memory. Threads that share a
// counter may lose counts.
bool is_sample() {
  constexpr int kBits = 6;
  struct alignas(64) Counter {
    std::atomic<uint32_t> launches;
  };
  static constinit Counter counters[1 << kBits] = {};
  const auto thread = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  std::atomic<uint32_t> &launches = counters[thread * kGolden >> (64 - kBits)].launches;
  const uint32_t count = launches.load(std::memory_order_relaxed) + 1;
  launches.store(count, std::memory_order_relaxed);
  return count % 16 == 0;
}

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
