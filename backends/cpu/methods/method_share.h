// SPDX-License-Identifier: Apache-2.0
// Shares the work of a method among the threads of the pool and keeps the first failure.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_SHARE_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_SHARE_H

#include <gufunc/backend.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/launch_strategy.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/methods/method_items.h"

namespace gufunc::cpu {

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
// range.
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
