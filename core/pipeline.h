// SPDX-License-Identifier: Apache-2.0
// The sentence: a call is validated, its types resolved, its shapes broadcast, a plan made, and a
// backend launched.
#ifndef GUFUNC_CORE_PIPELINE_H
#define GUFUNC_CORE_PIPELINE_H

#include "core/op/call_view.h"
#include "core/plan/planner.h"

namespace gufunc::pipeline {

// Runs a call. Outputs that it allocates are written to `outputs` (by output index) on success.
// Errors  all of guf_call
guf_status call(op::CallView &call, guf_operand *outputs, guf_error *error);

// What `call` would do.   Errors  those of guf_call before the launch
guf_status resolve(op::CallView &call, guf_resolution *out, guf_error *error);

// Types and shapes: what a call, a plan and a question about a call need alike. Operands are left
// as broadcasting needs them (axes= turned, weak scalars in the loop's dtype).
guf_status decide(op::CallView &call, resolve::Choice *choice, broadcast::LoopShape *loop,
                  guf_error *error);

// The same, but host operands of a call on device auto stay where they are, whatever there is to
// do.
guf_status decide_unweighed(op::CallView &call, resolve::Choice *choice, broadcast::LoopShape *loop,
                            guf_error *error);

class SeparateOutputs;

// As `decide`, for a call with separate outputs for inout operands. The inout operands are replaced
// by these outputs: afterwards the call runs in place.
guf_status decide_separate(op::CallView &call, SeparateOutputs *separate, resolve::Choice *choice,
                           broadcast::LoopShape *loop, guf_error *error);

// As `decide_unweighed`, for a call with separate outputs.
guf_status decide_separate_unweighed(op::CallView &call, SeparateOutputs *separate,
                                     resolve::Choice *choice, broadcast::LoopShape *loop,
                                     guf_error *error);

// Plans a decided call and launches it. `kernel`: the loop's, or null to have it looked up.
guf_status launch(const op::CallView &call, const broadcast::LoopShape &loop,
                  const resolve::Choice &choice, void *kernel, guf_error *error);

// Launches a prepared geometry, looping over the dimensions that a block does not hold. `launch` is
// used up. `watch`: the floating-point events to look for, or nullptr.
guf_status run(backend::Device &device, backend::Stream *stream, void *kernel, const op::Loop &loop,
               uint32_t threads, const guf_launch_watch *watch, plan::Launch *launch,
               guf_error *error);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_PIPELINE_H
