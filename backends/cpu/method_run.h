// SPDX-License-Identifier: Apache-2.0
// The methods of the `method` slot, one file each; they run on this thread and the pool.
#ifndef GUFUNC_BACKENDS_CPU_METHOD_RUN_H
#define GUFUNC_BACKENDS_CPU_METHOD_RUN_H

#include <gufunc/backend.h>

#include "backends/cpu/method_fold.h"
#include "backends/cpu/method_traversal.h"

namespace gufunc::cpu {

// Runs a method and returns when it is done.
// Errors  what a GUF_METHOD_STATUS loop returns; GUF_E_LOOP <= it is no error code: `native_code`
//         has it;  GUF_E_NO_MEMORY <= scratch;  GUF_E_DTYPE <= an operand's dtype has no casts
guf_status execute_method(const guf_backend_method &method, guf_error *error);

// How it would be run; runs nothing.
// Errors  GUF_E_UNSUPPORTED <= flags or a method that are not known;  GUF_E_DTYPE
guf_status decide_method(const guf_backend_method &method, MethodTraversal *out, guf_error *error);

// Errors  GUF_E_UNSUPPORTED <= flags that are not known
guf_status check_flags(const guf_method_block &block, guf_error *error);

// Elements that a method touches, as an estimate. Saturates.
uint64_t work_of(const guf_method_block &block);

// Their statuses are kLoopFailed, GUF_E_NO_MEMORY and GUF_E_DTYPE, without a text. With `way` they
// tell how they would be run, and run nothing.
guf_status reduce(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal);
guf_status reduce_mixed(const guf_backend_method &method, const Fold &fold,
                        MethodTraversal *traversal);
guf_status accumulate(const guf_backend_method &method, const Fold &fold,
                      MethodTraversal *traversal);
guf_status reduceat(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal);
guf_status at(const guf_backend_method &method, const Fold &fold, MethodTraversal *traversal);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHOD_RUN_H
