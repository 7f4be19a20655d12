// SPDX-License-Identifier: Apache-2.0
// The traversal of a method. The slots `method` and `describe_method` share these decisions,
// which do not depend on the values of elements.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_TRAVERSAL_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_TRAVERSAL_H

#include <cstdint>

namespace gufunc::cpu {

enum class MethodWalk : uint8_t {
  kNothing,
  kItems,       // result by result; some results are computed side by side
  kSubtrees,    // parts of a result, which are combined afterwards
  kTiles,       // accumulate: tiles of the axis, one result after the other
  kSlices,      // reduceat: one slice after the other
  kEntry,       // at: the fold entry processes one index after the other
  kRuns,        // at: runs of distinct indices are gathered, computed and scattered
  kItemsOfEach  // at: all items of an index, then all items of the next index
};

struct MethodTraversal {
  MethodWalk walk = MethodWalk::kNothing;
  uint64_t work = 0;
  uint32_t threads = 1;  // maximum; also 1 if there is too little work to share
  uint64_t chunks = 1;   // number of units of work that the threads claim one after the other
  int64_t side_by_side = 1, piece = 0;
  bool staged = false;  // elements are converted in blocks to the loop's dtype and byte order
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_TRAVERSAL_H
