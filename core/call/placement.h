// SPDX-License-Identifier: Apache-2.0
// Chooses the device that runs a call. For the device "auto", decides whether a call whose operands
// are all in host memory runs on the automatic device. This decision depends only on shapes and
// dtypes (docs/decisions/0013-device-auto.md).
#ifndef GUFUNC_CORE_CALL_PLACEMENT_H
#define GUFUNC_CORE_CALL_PLACEMENT_H

#include <string>

#include "core/broadcast/broadcast.h"
#include "core/op/call_view.h"
#include "core/resolve/resolve.h"

namespace gufunc::call {

// Sets call.device to the first of these that exists: the stream's device, the device of
// operands in device memory, the requested device, the device of operands in host memory,
// or cpu. "auto" requests the automatic device if a stream is passed or an operand is in
// device memory, and otherwise no device (decide_auto_placement). Sets call.host_copies, and
// marks operands that the host cannot read.
// Errors  GUF_E_DEVICE_MISMATCH <= operands, stream and device do not match, or the host policy
//         forbids a mix of host and device memory
//         GUF_E_SHUTDOWN <= the library was shut down
//         GUF_E_FORKED <= the stream belongs to the parent process
//         any 9xx <= the cpu is needed and cannot be opened
guf_status place(op::CallView &call, guf_error *error);

// Moves a call on the device "auto", which `place` assigned to the host, to the automatic device.
guf_status place_on_automatic(op::CallView &call, guf_error *error);

// The cost of transferring a call's operands, and the amount of its work.
struct AutoCost {
  uint64_t bytes;   // bytes of host operands; inout operands count twice
  uint64_t steps;   // product of the loop extents and the core sizes
  uint64_t width;   // size in bytes of the widest element of the loop
  uint64_t blocks;  // number of blocks that the device runs at a time
};
// Estimates the cost of a call on the device "auto".
AutoCost estimate_cost(const op::CallView &call, const resolve::Choice &choice,
                       const broadcast::LoopShape &loop);

// Returns whether the work takes longer on the host than the transfer of the
// operands and the work on the device together.
bool exceeds_transfer_cost(const AutoCost &cost);

// Whether a call on the device "auto" may run on the automatic device instead of the host.
enum class AutoOffload : uint8_t {
  kNever,    // the call stays on the host
  kWhole,    // the call may run on the device if all operands fit in its memory
  kInChunks  // the call may run on the device if chunks of the operands fit
};

// Sets auto_placement of a call whose types and shapes are known. Assigns the call to the automatic
// device if the ufunc has core dimensions and is faster there, or if the host has no kernel. Loads
// the kernel of the device if the work outweighs the transfer, and otherwise the kernel of the
// host.
// Errors  as backend::load_kernel, except GUF_E_NO_IMAGE
guf_status decide_auto_placement(op::CallView &call, const resolve::Choice &choice,
                                 const broadcast::LoopShape &loop, AutoOffload offload,
                                 guf_error *error);

// Describes in one line where a call on the device "auto" runs, and why. Returns "" for calls on
// other devices. The second overload is for methods, whose work is one operation per element.
std::string describe_auto(const op::CallView &call, const resolve::Choice &choice,
                          const broadcast::LoopShape &loop);
std::string describe_auto(const op::CallView &call);

// Writes a shorter form of this description to the trace, if tracing is on.
void trace_auto(const op::CallView &call);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_PLACEMENT_H
