// SPDX-License-Identifier: Apache-2.0
// A cache of scratch memory that is kept between launches,
// so that frequent launches do not allocate.
#ifndef GUFUNC_BACKENDS_CPU_BASE_SCRATCH_CACHE_H
#define GUFUNC_BACKENDS_CPU_BASE_SCRATCH_CACHE_H

#include <atomic>
#include <cstddef>

namespace gufunc::cpu {

// Keeps blocks of one size, aligned to a cache line. Each thread searches for blocks and for free
// slots from its own start position. A thread that uses one block at a time therefore usually gets
// the same block again, whose lines are in its core's cache. A block is allocated only if the cache
// is empty. All functions are lock-free. The cache is never destroyed.
class ScratchCache {
 public:
  constexpr explicit ScratchCache(size_t bytes) : bytes_(bytes) {}

  // Returns a block, or NULL if there is no memory.
  void *acquire();
  // Returns a block to the cache. NULL is accepted and ignored.
  void release(void *piece);
  // Frees all blocks in the cache. Blocks that are in use can still be returned later.
  void clear();

 private:
  static constexpr size_t kSlots = 64;
  static constexpr size_t kLine = 64;

  const size_t bytes_;
  std::atomic<void *> slots_[kSlots] = {};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_SCRATCH_CACHE_H
