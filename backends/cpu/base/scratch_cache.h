// SPDX-License-Identifier: Apache-2.0
// Blocks of scratch memory that are kept between launches, so that frequent launches do not
// allocate.
#ifndef GUFUNC_BACKENDS_CPU_BASE_SCRATCH_CACHE_H
#define GUFUNC_BACKENDS_CPU_BASE_SCRATCH_CACHE_H

#include <atomic>
#include <cstddef>

namespace gufunc::cpu {

// Keeps blocks of one size, aligned to a cache line. Each thread searches from its own start
// position, both for a block to take and for a free slot. A thread that uses one block at a time
// therefore usually gets the same block again, whose lines are in its core's cache. A block is
// allocated only if the cache is empty. Lock-free. Never destroyed.
class ScratchCache {
 public:
  constexpr explicit ScratchCache(size_t bytes) : bytes_(bytes) {}

  // Returns NULL if there is no memory.
  void *take();
  // Accepts NULL.
  void give(void *piece);
  // Frees the blocks on the cache. Blocks in use can still be returned later.
  void clear();

 private:
  static constexpr size_t kPlaces = 64;
  static constexpr size_t kLine = 64;

  const size_t bytes_;
  std::atomic<void *> place_[kPlaces] = {};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_SCRATCH_CACHE_H
