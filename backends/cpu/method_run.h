// SPDX-License-Identifier: Apache-2.0
// The methods of the `method` slot, one file each; they run on this thread and the pool.
#ifndef GUFUNC_BACKENDS_CPU_METHOD_RUN_H
#define GUFUNC_BACKENDS_CPU_METHOD_RUN_H

#include <gufunc/backend.h>

#include "backends/cpu/method_fold.h"

namespace gufunc::cpu {

// Runs a method and returns when it is done.
// Errors  what a GUF_METHOD_STATUS loop returns; GUF_E_LOOP <= it is no error code: `native_code`
//         has it;  GUF_E_NO_MEMORY <= scratch;  GUF_E_DTYPE <= an operand's dtype has no casts
guf_status execute_method(const guf_backend_method &method, guf_error *error);

// Elements that a method touches, as an estimate. Saturates.
uint64_t work_of(const guf_method_block &block);

// Their statuses are kLoopFailed, GUF_E_NO_MEMORY and GUF_E_DTYPE, without a text.
guf_status reduce(const guf_backend_method &method, const Fold &fold);
guf_status reduce_mixed(const guf_backend_method &method, const Fold &fold);
guf_status accumulate(const guf_backend_method &method, const Fold &fold);
guf_status reduceat(const guf_backend_method &method, const Fold &fold);
guf_status at(const guf_backend_method &method, const Fold &fold);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHOD_RUN_H
