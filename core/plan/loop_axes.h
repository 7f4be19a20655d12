// SPDX-License-Identifier: Apache-2.0
// From broadcast dimensions to loop dimensions: drop, flip, sort by stride, coalesce.
#ifndef GUFUNC_CORE_PLAN_LOOP_AXES_H
#define GUFUNC_CORE_PLAN_LOOP_AXES_H

#include "core/plan/planner.h"

namespace gufunc::plan {

// Writes operands, addresses, dtypes, flags and the loop dimensions of a launch; the core part is
// the planner's. `stride_bits` (one per operand) receives the OR of the operands' loop strides, for
// alignment.
void write_loop(const Request &request, Launch *out, uint64_t *stride_bits);

}  // namespace gufunc::plan

#endif  // GUFUNC_CORE_PLAN_LOOP_AXES_H
