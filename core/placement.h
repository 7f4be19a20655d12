// SPDX-License-Identifier: Apache-2.0
// Where a call runs.
#ifndef GUFUNC_CORE_PLACEMENT_H
#define GUFUNC_CORE_PLACEMENT_H

#include "core/op/call_view.h"

namespace gufunc::pipeline {

// Sets call.device: the stream's, else that of operands in device memory, else the one asked for,
// else that of operands in host memory, else cpu. "auto" asks for the device that it stands for
// where a stream is given or an operand lies in device memory, else for none (auto_placement.h).
// Sets call.host_copies, and marks operands that the host cannot read. Errors
// GUF_E_DEVICE_MISMATCH <= operands, stream and device do not go together; a mix of host
//         and device memory that the host policy does not allow
//         GUF_E_FORKED <= the stream is the parent's;  any 9xx <= cpu is needed and cannot be
//         opened
guf_status place(op::CallView &call, guf_error *error);

// Moves a call on device auto, which `place` has put on the host, to the device that it stands for.
guf_status move_there(op::CallView &call, guf_error *error);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_PLACEMENT_H
