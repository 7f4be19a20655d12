// SPDX-License-Identifier: Apache-2.0
// The traversal of a method. The slots `method` and `describe_method` share these decisions, which
// read no element.
#ifndef GUFUNC_BACKENDS_CPU_METHOD_TRAVERSAL_H
#define GUFUNC_BACKENDS_CPU_METHOD_TRAVERSAL_H

#include <cstdint>

namespace gufunc::cpu {

enum class MethodWalk : uint8_t {
  kNothing,
  kItems,       // each result by itself, some side by side
  kSubtrees,    // parts of a result, joined afterwards
  kTiles,       // parts of accumulate's axis, each result's in turn
  kStretches,   // of reduceat
  kEntry,       // at: the fold entry takes index after index
  kRuns,        // at: runs of different indices, gathered and scattered
  kItemsOfEach  // at: the items of an index, then those of the next
};

struct MethodTraversal {
  MethodWalk walk = MethodWalk::kNothing;
  uint64_t work = 0;
  uint32_t threads = 1;  // at most; 1 also if there is too little work to share
  uint64_t pieces = 1;   // units of work that the threads claim one after the other
  int64_t side_by_side = 1, piece = 0;
  bool staged = false;  // elements go through blocks of the loop's dtype and byte order
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHOD_TRAVERSAL_H
