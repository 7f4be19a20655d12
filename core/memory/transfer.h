// SPDX-License-Identifier: Apache-2.0
// Copies elements with any strides and with casts: on one device, or between any two memories (host
// and devices).
#ifndef GUFUNC_CORE_MEMORY_TRANSFER_H
#define GUFUNC_CORE_MEMORY_TRANSFER_H

#include "core/memory/memory.h"

namespace gufunc::memory {

// The source or the destination of an elementwise copy.
struct CopyOperand {
  array::Layout layout;
  bool swapped;
  bool immediate = false;  // a scalar in host memory, whichever device copies it
};

// Copies elements with casts (guf::cast). The shapes are equal, or `from` broadcasts to `to`. The
// two operands must not overlap unless they are exactly the same view; `copy_overlapping` permits
// overlap. If `stream` is nullptr, the copy is complete on return on a device that uses host
// memory, and is queued on the default stream of any other device.
guf_status convert(backend::Device &device, backend::Stream *stream, const CopyOperand &to,
                   const CopyOperand &from, guf_error *error);

// Like `convert`, for operands that may overlap in any way.
guf_status copy_overlapping(backend::Device &device, backend::Stream *stream, const CopyOperand &to,
                            const CopyOperand &from, guf_error *error);

// The source or the destination of a transfer, and its device.
struct CopyEndpoint {
  CopyOperand operand;
  backend::Device *device;
};

CopyEndpoint endpoint_of(const array::Array &array, backend::Device &device);

// Returns the device of an array. Host memory that was wrapped without a device belongs to the cpu.
// Errors  as plugin::cpu_device
guf_status device_of(const array::Array &array, backend::Device **out, guf_error *error);

// Checks that a stream can be used to copy between two devices.
// Errors  GUF_E_DEVICE_MISMATCH <= the stream belongs to neither device, or it belongs to the host
//         and one of the devices is not the host
guf_status check_stream(const backend::Stream *stream, const backend::Device &a,
                        const backend::Device &b, guf_error *error);

// Copies `from`, which is broadcast to the shape of `to`, to `to`. Overlapping memory behaves as if
// `from` were copied first. If `stream` is not nullptr, the caller must keep the arrays alive until
// the work is done. If `stream` is nullptr and one endpoint is in host memory, the copy is complete
// on return. The caller must have checked the stream.
guf_status transfer(const CopyEndpoint &to, const CopyEndpoint &from, backend::Stream *stream,
                    guf_error *error);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_TRANSFER_H
