// SPDX-License-Identifier: Apache-2.0
// The methods of the `method` slot, and their traversal. The methods run on the calling thread and
// the pool.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_RUN_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_RUN_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/methods/method_fold.h"

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

// The traversal of a method. The slots `method` and `describe_method` share these decisions, which
// do not depend on the values of elements.
struct MethodTraversal {
  MethodWalk walk = MethodWalk::kNothing;
  uint64_t work = 0;
  uint32_t threads = 1;  // maximum; also 1 if there is too little work to share
  uint64_t chunks = 1;   // number of units of work that the threads claim one after the other
  int64_t side_by_side = 1, piece = 0;
  bool staged = false;  // elements are converted in blocks to the loop's dtype and byte order
};

// Runs a method and returns when it is complete.
// Errors  the status that a GUF_METHOD_STATUS loop returns;
//         GUF_E_LOOP <= the loop returned a value that is not an error code; `native_code`
//         contains the value;
//         GUF_E_NO_MEMORY <= no scratch memory;  GUF_E_DTYPE <= an operand's dtype has no casts
guf_status execute_method(const guf_backend_method &method, guf_error *error);

// Determines the traversal of a method without running it.
// Errors  GUF_E_UNSUPPORTED <= unknown flags or an unknown method;  GUF_E_DTYPE
guf_status decide_method(const guf_backend_method &method, MethodTraversal *out, guf_error *error);

// Errors  GUF_E_UNSUPPORTED <= unknown flags
guf_status check_flags(const guf_method_block &block, guf_error *error);

// Estimates the number of elements that a method accesses. Returns UINT64_MAX on overflow.
uint64_t work_of(const guf_method_block &block);

// Each function below fails with kLoopFailed, GUF_E_NO_MEMORY or GUF_E_DTYPE and writes no message.
// If `traversal` is not NULL, the function only writes the traversal and does not run the method.
guf_status reduce(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal);
guf_status reduce_mixed(const guf_backend_method &method, const Fold &fold,
                        MethodTraversal *traversal);
guf_status accumulate(const guf_backend_method &method, const Fold &fold,
                      MethodTraversal *traversal);
guf_status reduceat(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal);
guf_status at(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_RUN_H
