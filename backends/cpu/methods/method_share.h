// SPDX-License-Identifier: Apache-2.0
// Divides the kept items of a method into units of lanes, and shares the work among the threads of
// the pool. The kept dimensions are those along which the method does not combine elements, and a
// kept item is one position in these dimensions. A unit is a range of items along one kept
// dimension; each of its items is computed in its own lane.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_SHARE_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_SHARE_H

#include <gufunc/backend.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/launch_strategy.h"
#include "backends/cpu/loops/work_split.h"

namespace gufunc::cpu {

struct ItemUnit {
  int64_t lanes = 1;
  int64_t input = 0, output = 0, mask = 0;  // offsets from the first item, in bytes
  uint64_t first = 0;  // number of the unit's first item; the other items follow it
};

inline constexpr int64_t kFewLanes = 16;

// Returns how many units `threads` threads need: several for each thread,
// so that threads of different speeds finish at the same time.
inline int64_t units_for(uint32_t threads) {
  return threads < 2 ? 1 : int64_t{threads} * 4;
}

// The kept items are numbered with the dimension of the lanes fastest.
class ItemUnits {
 public:
  // Divides the items into units of at most `most_lanes` lanes,
  // and into at least `parts` units if there are enough items.
  // The number of lanes of a unit is rounded up to a multiple of `multiple`.
  ItemUnits(const guf_method_block &block, int64_t most_lanes, int64_t parts,
            int64_t multiple = kFewLanes)
      : block_(block) {
    // The lanes are in the innermost dimension, or in a longer dimension if the innermost one is
    // too short.
    for (int d = 1; d < block.nkept; ++d) {
      if (block.kept_size[dim_] >= kFewLanes) break;
      if (block.kept_size[d] > block.kept_size[dim_]) dim_ = d;
    }
    if (block.nkept == 0 || block.items == 0) {
      units_ = block.items;
      return;
    }
    const int64_t size = block.kept_size[dim_];
    const auto rows = static_cast<int64_t>(block.items) / size;
    lanes_ = std::min(most_lanes, size);
    const int64_t units = (parts + rows - 1) / rows;  // units that each row is divided into
    if (size / units < lanes_) {
      const int64_t even = (size / units + multiple - 1) / multiple * multiple;
      lanes_ = std::clamp<int64_t>(even, 1, lanes_);
    }
    per_row_ = static_cast<uint64_t>((size - 1) / lanes_ + 1);
    units_ = per_row_ * static_cast<uint64_t>(rows);
  }

  uint64_t count() const { return units_; }
  int64_t lanes() const { return lanes_; }
  int64_t input_step() const { return block_.nkept == 0 ? 0 : block_.kept_input_step[dim_]; }
  int64_t output_step() const { return block_.nkept == 0 ? 0 : block_.kept_output_step[dim_]; }
  int64_t mask_step() const { return block_.nkept == 0 ? 0 : block_.kept_mask_step[dim_]; }

  ItemUnit unit(uint64_t number) const {
    ItemUnit unit;
    if (block_.nkept == 0) return unit;
    const auto size = block_.kept_size[dim_];
    uint64_t row = number / per_row_;
    const int64_t lane = static_cast<int64_t>(number % per_row_) * lanes_;
    unit.lanes = std::min(lanes_, size - lane);
    unit.first = row * static_cast<uint64_t>(size) + static_cast<uint64_t>(lane);
    advance(&unit, dim_, lane);
    for (int d = 0; d < block_.nkept; ++d) {
      if (d == dim_) continue;
      const auto extent = static_cast<uint64_t>(block_.kept_size[d]);
      advance(&unit, d, static_cast<int64_t>(row % extent));
      row /= extent;
    }
    return unit;
  }

 private:
  void advance(ItemUnit *unit, int d, int64_t by) const {
    unit->input += by * block_.kept_input_step[d];
    unit->output += by * block_.kept_output_step[d];
    unit->mask += by * block_.kept_mask_step[d];
  }

  const guf_method_block &block_;
  int dim_ = 0;
  int64_t lanes_ = 1;
  uint64_t per_row_ = 1, units_ = 1;
};

// Returns the weight (work_split.h) of a method's work, which determines the number of threads.
inline uint64_t weigh(const guf_backend_method &method, uint64_t work) {
  return weight_for_requested_threads(LoopCost(method.kernel, method.user).weigh(work),
                                      method.max_threads);
}

// Returns the granularity of the number of lanes in a unit. A single thread does not divide the
// units, so the cost of the loop is then not looked up.
// Slow elements gain nothing from vector instructions, so their lanes may be divided one by one,
// which lets a few lanes occupy all threads.
inline int64_t lane_multiple(const guf_backend_method &method, uint32_t threads) {
  constexpr uint64_t kSlowElement = 64;  // 16 ns
  if (threads == 1) return kFewLanes;
  return LoopCost(method.kernel, method.user).weigh(1) >= kSlowElement ? 1 : kFewLanes;
}

// Returns the reason why a method is serial, or kNotSerial. `work` is the weight of its work.
inline SerialReason serial_reason(const guf_backend_method &method, uint64_t work) {
  if ((method.block->flags & GUF_METHOD_ANY_THREAD) == 0) return SerialReason::kCallerThreadOnly;
  if (method.max_threads == 1) return SerialReason::kRequested;
  if (work < kParallelWork) return SerialReason::kTooSmall;
  return thread_pool().threads() == 1 ? SerialReason::kOneThread : SerialReason::kNotSerial;
}

// Returns the maximum number of threads for the method.
inline uint32_t method_threads(const guf_backend_method &method, uint64_t work) {
  if (serial_reason(method, work) != SerialReason::kNotSerial) return 1;
  const uint32_t all = thread_pool().threads();
  return method.max_threads == 0 ? all : std::min(method.max_threads, all);
}

inline ThreadPool::Wake wake_of(uint64_t work) {
  return work >= kWakeWork ? ThreadPool::Wake::kYes : ThreadPool::Wake::kNo;
}

// A division of a range into `count` chunks of `size` numbers. The last chunk may be smaller.
struct Chunks {
  uint64_t size, count;
};
inline Chunks chunks_of(uint64_t count, uint32_t threads) {
  if (threads < 2 || count < 2) return {count, 1};
  constexpr uint64_t kMaxChunksPerThread = 8;
  const uint64_t size =
      std::max(count / (threads * kMaxChunksPerThread) + 1, count / ThreadPool::kMaxChunks + 1);
  return {size, (count - 1) / size + 1};
}

// Returns the product, or UINT64_MAX on overflow.
inline uint64_t saturating_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Divides [0, count) into ranges and calls body(first, last), which returns a guf_status, for each
// range. Returns the first failure.
template <class Body>
guf_status parallel_for(uint64_t count, uint64_t work, uint32_t threads, const Body &body) {
  const Chunks chunks = chunks_of(count, threads);
  if (chunks.count < 2) return body(uint64_t{0}, count);
  struct Job {
    const Body *body;
    uint64_t count, chunk_size;
    std::atomic<guf_status> status{GUF_OK};
  };
  Job job{&body, count, chunks.size};
  const ThreadPool::Body run = [](void *context, uint32_t chunk) {
    Job &mine = *static_cast<Job *>(context);
    if (mine.status.load(std::memory_order_relaxed) != GUF_OK) return;
    const uint64_t first = chunk * mine.chunk_size;
    const guf_status status = (*mine.body)(first, std::min(first + mine.chunk_size, mine.count));
    guf_status none = GUF_OK;
    if (status != GUF_OK) {
      mine.status.compare_exchange_strong(none, status, std::memory_order_acq_rel);
    }
  };
  thread_pool().run(static_cast<uint32_t>(chunks.count), threads, wake_of(work), run, &job);
  return job.status.load(std::memory_order_acquire);
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_SHARE_H
