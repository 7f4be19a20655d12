// SPDX-License-Identifier: Apache-2.0
// The methods of the `method` slot, each in its own source file. The methods run on the calling
// thread and the pool.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_RUN_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_RUN_H

#include <gufunc/backend.h>

#include "backends/cpu/methods/method_fold.h"
#include "backends/cpu/methods/method_traversal.h"

namespace gufunc::cpu {

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
