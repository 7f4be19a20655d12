// SPDX-License-Identifier: Apache-2.0
// Pieces of a method's work on the pool, with the first failure of any.
#ifndef GUFUNC_BACKENDS_CPU_METHOD_SHARE_H
#define GUFUNC_BACKENDS_CPU_METHOD_SHARE_H

#include <gufunc/backend.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backends/cpu/claim_pool.h"
#include "backends/cpu/work_split.h"

namespace gufunc::cpu {

// Threads that a method of this much work may use: 1 when it is too little.
inline uint32_t method_threads(const guf_backend_method &method, uint64_t work) {
  if ((method.block->flags & GUF_METHOD_ANY_THREAD) == 0 || work < kParallelWork) return 1;
  const uint32_t all = claim_pool().threads();
  return method.max_threads == 0 ? all : std::min(method.max_threads, all);
}

// Saturates.
inline uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// body(first, last) -> guf_status for ranges that together are [0, count).
template <class Body>
guf_status share(uint64_t count, uint64_t work, uint32_t threads, const Body &body) {
  if (threads < 2 || count < 2) return body(uint64_t{0}, count);
  struct Job {
    const Body *body;
    uint64_t count, each;
    std::atomic<guf_status> status{GUF_OK};
  };
  constexpr uint64_t kPiecesPerThread = 8;
  Job job{&body, count, count / (threads * kPiecesPerThread) + 1};
  job.each = std::max(job.each, count / ClaimPool::kMaxChunks + 1);
  const auto pieces = static_cast<uint32_t>((count - 1) / job.each + 1);
  const ClaimPool::Body run = [](void *context, uint32_t piece) {
    Job &mine = *static_cast<Job *>(context);
    if (mine.status.load(std::memory_order_relaxed) != GUF_OK) return;
    const uint64_t first = piece * mine.each;
    const guf_status status = (*mine.body)(first, std::min(first + mine.each, mine.count));
    guf_status none = GUF_OK;
    if (status != GUF_OK) {
      mine.status.compare_exchange_strong(none, status, std::memory_order_acq_rel);
    }
  };
  const auto wake = work >= kWakeWork ? ClaimPool::Wake::kYes : ClaimPool::Wake::kNo;
  claim_pool().run(pieces, threads, wake, run, &job);
  return job.status.load(std::memory_order_acquire);
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHOD_SHARE_H
