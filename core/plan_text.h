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

// How each written operand lies to the others.
std::string describe_lies(const op::CallView &call, const OverlapWork &work);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_PLAN_TEXT_H
