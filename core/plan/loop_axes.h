// SPDX-License-Identifier: Apache-2.0
// From broadcast dimensions to loop dimensions: drop, flip, sort by stride, coalesce.
#ifndef GUFUNC_CORE_PLAN_LOOP_AXES_H
#define GUFUNC_CORE_PLAN_LOOP_AXES_H

#include "core/plan/planner.h"

namespace gufunc::plan {

// Writes operands, addresses, dtypes, flags, loop dimensions and the loop's stride bits of a
// launch; the core part is the planner's.
// Errors  GUF_E_INTERNAL <= the request has more than GUF_MAX_NDIM loop dimensions
guf_status write_loop(const Request &request, Launch *out, guf_error *error);

}  // namespace gufunc::plan

#endif  // GUFUNC_CORE_PLAN_LOOP_AXES_H
