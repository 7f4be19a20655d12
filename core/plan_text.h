// SPDX-License-Identifier: Apache-2.0
// What a plan does and why, as text.
#ifndef GUFUNC_CORE_PLAN_TEXT_H
#define GUFUNC_CORE_PLAN_TEXT_H

#include <string>

#include "core/operand_overlap.h"
#include "core/plan/planner.h"

namespace gufunc::pipeline {

std::string describe_plan(const op::CallView &call, const broadcast::LoopShape &loop,
                          const resolve::Choice &choice, const plan::Planner &planner,
                          const guf_launch_block &block, uint64_t workspace);

// Parts of it, which methods' texts are made of too.
std::string describe_list(const int64_t *values, int32_t count);  // "(3,4)"
std::string describe_loop(const op::CallView &call, const resolve::Choice &choice);
std::string describe_operand(const op::CallView &call, int32_t i, guf_dtype loop_dtype);
// The loops that stand before the one chosen, each with the first operand that it does not take.
// `otherwise`: why it was not taken when it takes them all. `last_first`: of several the last one
// is named (methods, whose first operand is the result).
std::string describe_refused(const op::CallView &call, const resolve::Choice &choice,
                             const char *otherwise, bool last_first = false);

// How each written operand lies to the others.
std::string describe_lies(const op::CallView &call, const OverlapWork &work);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_PLAN_TEXT_H
