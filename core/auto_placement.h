// SPDX-License-Identifier: Apache-2.0
// Device auto: whether a call whose operands all lie in host memory is worth moving to the device
// that was chosen. Decided by shapes and dtypes alone (docs/decisions/0013-device-auto.md).
#ifndef GUFUNC_CORE_AUTO_PLACEMENT_H
#define GUFUNC_CORE_AUTO_PLACEMENT_H

#include <string>

#include "core/broadcast/loop_shape.h"
#include "core/resolve/resolve.h"

namespace gufunc::pipeline {

// What moving a call costs, and what its work is.
struct AutoWeight {
  uint64_t bytes;   // of host operands, there and back
  uint64_t steps;   // of the loop: items times the sizes of core dimensions
  uint64_t width;   // bytes of the widest element that a step is done on
  uint64_t blocks;  // that the device has at work at once
};
// Of a call on device auto.
AutoWeight weight_of(const op::CallView &call, const resolve::Choice &choice,
                     const broadcast::LoopShape &loop);

// Whether the host takes longer for the work than the bus for the operands and the device for the
// work.
bool is_heavy(const AutoWeight &weight);

// Whether all operands must fit into the device's memory at once.
enum class Room : uint8_t { kNeeded, kOfChunks };

// Sets auto_placement of a decided call, and moves the call there where that is the answer. Loads
// kernels of heavy calls, and on the host of all.
// Errors  any but GUF_E_NO_IMAGE of backend::kernel_of
guf_status weigh(op::CallView &call, const resolve::Choice &choice,
                 const broadcast::LoopShape &loop, Room room, guf_error *error);

// Where a call on device auto runs and why, as one line; "" where no device auto was named. The
// second is about a method, whose work is one operation on each element.
std::string describe_auto(const op::CallView &call, const resolve::Choice &choice,
                          const broadcast::LoopShape &loop);
std::string describe_auto(const op::CallView &call);

// The same in a few words, into the trace, where one is written.
void trace_auto(const op::CallView &call);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_AUTO_PLACEMENT_H
