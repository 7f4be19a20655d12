// SPDX-License-Identifier: Apache-2.0
// Pieces of scratch memory that are kept between launches, so that hot ones allocate nothing.
#ifndef GUFUNC_BACKENDS_CPU_SCRATCH_SHELF_H
#define GUFUNC_BACKENDS_CPU_SCRATCH_SHELF_H

#include <atomic>
#include <cstddef>

namespace gufunc::cpu {

// Pieces of one size, aligned to a cache line. A thread finds the one that it gave back last, if
// nobody took it: its lines are in that core's cache. A piece is allocated only where none is
// found. No lock. Never destroyed.
class ScratchShelf {
 public:
  constexpr explicit ScratchShelf(size_t bytes) : bytes_(bytes) {}

  // NULL when memory is out.
  void *take();
  // Takes NULL, too.
  void give(void *piece);
  // Frees what lies there; pieces that are in use come back later.
  void clear();

 private:
  static constexpr size_t kPlaces = 64;
  static constexpr size_t kLine = 64;

  const size_t bytes_;
  std::atomic<void *> place_[kPlaces] = {};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_SCRATCH_SHELF_H
