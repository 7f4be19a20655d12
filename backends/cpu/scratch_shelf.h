// SPDX-License-Identifier: Apache-2.0
// Pieces of scratch memory that are kept between launches, so that hot ones allocate nothing.
#ifndef GUFUNC_BACKENDS_CPU_SCRATCH_SHELF_H
#define GUFUNC_BACKENDS_CPU_SCRATCH_SHELF_H

#include <atomic>
#include <cstddef>

namespace gufunc::cpu {

// Pieces of one size, aligned to a cache line. A thread looks for pieces and for free places from a
// place of its own on: where it alone takes and gives, one piece at a time, it gets the same one
// again, whose lines are in its core's cache. Of several that it gave back it gets the one nearest
// behind that place; what other threads put or leave there comes in between. A piece is allocated
// only where none is found. No lock. Never destroyed.
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
