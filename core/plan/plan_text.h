// SPDX-License-Identifier: Apache-2.0
// The text that describes what a plan does and why.
#ifndef GUFUNC_CORE_PLAN_PLAN_TEXT_H
#define GUFUNC_CORE_PLAN_PLAN_TEXT_H

#include <string>

#include "core/call/staging.h"
#include "core/geometry/launch.h"

namespace gufunc::plan {

std::string describe_plan(const op::CallView &call, const broadcast::LoopShape &loop,
                          const resolve::Choice &choice, const guf_launch_block &block,
                          uint64_t workspace);

// Parts of the text that the texts of methods also use.
std::string describe_list(const int64_t *values, int32_t count);  // a list such as "(3,4)"
std::string describe_loop(const op::CallView &call, const resolve::Choice &choice);
std::string describe_operand(const op::CallView &call, int32_t i, guf_dtype loop_dtype);
// Lists the loops before the chosen loop, each with the first operand that does not cast safely to
// the loop's dtype. `otherwise` is the reason if all operands cast safely. With `last_first`, the
// last such operand is named (for methods, whose first operand is the result).
std::string describe_refused(const op::CallView &call, const resolve::Choice &choice,
                             const char *otherwise, bool last_first = false);

// Describes how each written operand overlaps the other operands.
std::string describe_overlaps(const op::CallView &call, const call::Staging &staging);

}  // namespace gufunc::plan

#endif  // GUFUNC_CORE_PLAN_PLAN_TEXT_H
