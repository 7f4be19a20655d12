// SPDX-License-Identifier: Apache-2.0
// The steps of a call: validate the arguments, resolve the types, broadcast the shapes, compute the
// launch geometry, and launch on a backend.
#ifndef GUFUNC_CORE_CALL_PIPELINE_H
#define GUFUNC_CORE_CALL_PIPELINE_H

#include <gufunc/resolve.h>

#include "core/call/placement.h"
#include "core/geometry/launch.h"
#include "core/op/call_view.h"

namespace gufunc::call {

class SeparateOutputs;

// Runs a call. On success, writes the outputs that the call allocated to `outputs`, which is
// indexed by output.
// Errors  as guf_call
guf_status call(op::CallView &call, guf_operand *outputs, guf_error *error);

// Determines the dtypes and shapes that `call` would use.
// Errors  as guf_call before the launch
guf_status resolve(op::CallView &call, guf_resolution *out, guf_error *error);

// Options of `decide`.
struct DecideOptions {
  // Whether a call on the device "auto" with host operands may run on the automatic device.
  AutoOffload auto_offload = AutoOffload::kNever;
  // Redirects each written operand to its separate output, on which the call then runs in place.
  // Required if the call has separate outputs.
  SeparateOutputs *separate = nullptr;
};

// Determines the device, types and shapes for calls, for plans, and for queries about calls.
// Changes the operands as resolution and broadcasting require: axes= permutes their axes, and weak
// scalars are converted to the loop's dtypes.
guf_status decide(op::CallView &call, const DecideOptions &options, resolve::Choice *choice,
                  broadcast::LoopShape *loop, guf_error *error);

// Computes the geometry of a call whose types and shapes are known, and launches it. `kernel` is
// the kernel of the loop, or nullptr to look it up.
guf_status launch(const op::CallView &call, const broadcast::LoopShape &loop,
                  const resolve::Choice &choice, void *kernel, guf_error *error);

// Launches a prepared geometry, once per index of the dimensions that do not fit into the launch
// block. Modifies `launch`. `fp_status` requests floating-point flags, or is nullptr.
guf_status run(backend::Device &device, backend::Stream *stream, void *kernel, const op::Loop &loop,
               uint32_t threads, const guf_fp_status *fp_status, geometry::Launch *launch,
               guf_error *error);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_PIPELINE_H
