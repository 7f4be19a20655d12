// SPDX-License-Identifier: Apache-2.0
// Device auto: decides whether to move a call whose operands are all in host memory to the
// automatic device. The decision depends only on shapes and dtypes
// (docs/decisions/0013-device-auto.md).
#ifndef GUFUNC_CORE_CALL_AUTO_PLACEMENT_H
#define GUFUNC_CORE_CALL_AUTO_PLACEMENT_H

#include <string>

#include "core/broadcast/loop_shape.h"
#include "core/resolve/resolve.h"

namespace gufunc::call {

// The cost of transferring a call's operands, and the amount of its work.
struct AutoWeight {
  uint64_t bytes;   // bytes of host operands, transferred in both directions
  uint64_t steps;   // items of the loop times the sizes of the core dimensions
  uint64_t width;   // size of the widest element of the loop, in bytes
  uint64_t blocks;  // blocks that the device executes at once
};
// Computes the weight of a call on device auto.
AutoWeight weight_of(const op::CallView &call, const resolve::Choice &choice,
                     const broadcast::LoopShape &loop);

// Whether the host needs more time for the work than the bus for the operands plus the device for
// the work.
bool is_heavy(const AutoWeight &weight);

// Whether a call on device auto may move from the host to the automatic device.
enum class AutoMove : uint8_t {
  kNever,    // stays on the host
  kWhole,    // moves if all operands fit into the device's memory at once
  kInChunks  // moves even if only chunks of the operands fit
};

// Sets auto_placement of a call whose types and shapes are known, and moves the call to the
// automatic device if that is faster or the host has no kernel. Loads the device's kernel for heavy
// calls, and the host's kernel for all others.
// Errors  those of backend::kernel_of except GUF_E_NO_IMAGE
guf_status weigh(op::CallView &call, const resolve::Choice &choice,
                 const broadcast::LoopShape &loop, AutoMove move, guf_error *error);

// Describes in one line where a call on device auto runs and why. Returns "" if the call is not on
// device auto. The second overload is for methods, whose work is one operation per element.
std::string describe_auto(const op::CallView &call, const resolve::Choice &choice,
                          const broadcast::LoopShape &loop);
std::string describe_auto(const op::CallView &call);

// Writes the same description, shortened, to the trace if one is written.
void trace_auto(const op::CallView &call);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_AUTO_PLACEMENT_H
