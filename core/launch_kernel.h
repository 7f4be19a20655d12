// SPDX-License-Identifier: Apache-2.0
// Launches of raw kernels: arguments are held against the kernel's parameters and packed into the
// one block that a launch passes by value.
#ifndef GUFUNC_CORE_LAUNCH_KERNEL_H
#define GUFUNC_CORE_LAUNCH_KERNEL_H

#include <span>

#include "core/module/module_kernel.h"
#include "core/op/call_view.h"

namespace gufunc::pipeline {

struct KernelCall {
  backend::Stream *stream;  // NULL: the device's own order
  const uint32_t *grid;     // three of each
  const uint32_t *block;
  uint32_t shared_bytes;
  std::span<op::OperandView> arguments;  // as many as parameters; weak ones are converted in place
};

// Allocates nothing without a stream, once the kernel's code is on the device.
// Errors  as guf_kernel_launch
guf_status launch_kernel(module::RawKernel &kernel, const KernelCall &call, guf_error *error);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_LAUNCH_KERNEL_H
