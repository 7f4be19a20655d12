// SPDX-License-Identifier: Apache-2.0
// Chooses the device that runs a call.
#ifndef GUFUNC_CORE_CALL_PLACEMENT_H
#define GUFUNC_CORE_CALL_PLACEMENT_H

#include "core/op/call_view.h"

namespace gufunc::call {

// Sets call.device to the first of these that exists: the stream's device, the device of
// operands in device memory, the requested device, the device of operands in host memory,
// or cpu. "auto" requests the automatic device if a stream is passed or an operand is in
// device memory, and otherwise no device (auto_placement.h). Sets call.host_copies, and
// marks operands that the host cannot read.
// Errors  GUF_E_DEVICE_MISMATCH <= operands, stream and device do not match, or the host policy
//         forbids a mix of host and device memory
//         GUF_E_SHUTDOWN <= the library was shut down
//         GUF_E_FORKED <= the stream belongs to the parent process
//         any 9xx <= the cpu is needed and cannot be opened
guf_status place(op::CallView &call, guf_error *error);

// Moves a call on the device "auto", which `place` assigned to the host, to the automatic device.
guf_status place_on_automatic(op::CallView &call, guf_error *error);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_PLACEMENT_H
