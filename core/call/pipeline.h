// SPDX-License-Identifier: Apache-2.0
// The steps of a call: validate the arguments, resolve the types, broadcast the shapes, compute the
// launch geometry, and launch a backend.
#ifndef GUFUNC_CORE_CALL_PIPELINE_H
#define GUFUNC_CORE_CALL_PIPELINE_H

#include "core/call/auto_placement.h"
#include "core/geometry/launch.h"
#include "core/op/call_view.h"

namespace gufunc::call {

class SeparateOutputs;

// Runs a call. On success the outputs that it allocated are written to `outputs`, by output index.
// Errors  those of guf_call
guf_status call(op::CallView &call, guf_operand *outputs, guf_error *error);

// Determines the dtypes and shapes that `call` would use.
// Errors  those of guf_call before the launch
guf_status resolve(op::CallView &call, guf_resolution *out, guf_error *error);

// The differences between the callers of `decide`.
struct DecideOptions {
  // Whether a call on device auto with host operands may move to the automatic device.
  AutoMove auto_move = AutoMove::kNever;
  // Receives the separate outputs of inout operands. The call is redirected to them, so that it
  // runs in place on them afterwards. Required if the call has any.
  SeparateOutputs *separate = nullptr;
};

// Determines device, types and shapes, for calls, plans and queries about calls. Changes the
// operands as broadcasting requires: axes= permutes them, and weak scalars get the loop's dtypes.
guf_status decide(op::CallView &call, const DecideOptions &options, resolve::Choice *choice,
                  broadcast::LoopShape *loop, guf_error *error);

// Computes the geometry of a call whose types and shapes are known, and launches it. `kernel`: the
// kernel of the loop, or nullptr to look it up.
guf_status launch(const op::CallView &call, const broadcast::LoopShape &loop,
                  const resolve::Choice &choice, void *kernel, guf_error *error);

// Launches a prepared geometry, and loops over the dimensions that exceed a block. Modifies
// `launch`. `fp_status`: the floating-point flags to detect, or nullptr.
guf_status run(backend::Device &device, backend::Stream *stream, void *kernel, const op::Loop &loop,
               uint32_t threads, const guf_fp_status *fp_status, geometry::Launch *launch,
               guf_error *error);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_PIPELINE_H
