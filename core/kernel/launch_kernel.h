// SPDX-License-Identifier: Apache-2.0
// Launches of raw kernels. The arguments are checked against the kernel's parameters and packed
// into one block, which the launch passes by value.
#ifndef GUFUNC_CORE_KERNEL_LAUNCH_KERNEL_H
#define GUFUNC_CORE_KERNEL_LAUNCH_KERNEL_H

#include <span>

#include "core/kernel/kernel.h"
#include "core/op/call_view.h"

namespace gufunc::kernel {

struct KernelCall {
  backend::Stream *stream;  // nullptr selects the default stream
  const uint32_t *grid;     // three values, as in `block`
  const uint32_t *block;
  uint32_t shared_bytes;
  std::span<op::OperandView> arguments;  // one per parameter; weak scalars are converted in place
};

// Launches a raw kernel. Allocates nothing if the stream is null and the kernel's code is already
// loaded.
// Errors  as guf_kernel_launch
guf_status launch_kernel(RawKernel &kernel, const KernelCall &call, guf_error *error);

}  // namespace gufunc::kernel

#endif  // GUFUNC_CORE_KERNEL_LAUNCH_KERNEL_H
