// SPDX-License-Identifier: Apache-2.0
// Copying elements between any two places: host and devices, any strides, with casts.
#ifndef GUFUNC_CORE_MEMORY_TRANSFER_H
#define GUFUNC_CORE_MEMORY_TRANSFER_H

#include "core/memory/memory.h"

namespace gufunc::memory {

// One side of a copy and where it lies.
struct Place {
  Side side;
  backend::Device *device;
};

Place place_of(const array::Array &array, backend::Device &device);

// The device of an array; host memory that was wrapped without one belongs to the cpu.
// Errors  as backend::cpu_device
guf_status device_of(const array::Array &array, backend::Device **out, guf_error *error);

// Errors  GUF_E_DEVICE_MISMATCH <= the stream is of neither device, or of the host's when one of
// the
//         two is not
guf_status check_stream(const backend::Stream *stream, const backend::Device &a,
                        const backend::Device &b, guf_error *error);

// Copies `from` into `to`, which it broadcasts to; overlapping memory behaves as if `from` were
// copied first. The caller keeps the arrays alive on a stream. Complete on return when stream is
// nullptr and one side is the host's. The stream has been checked.
guf_status transfer(const Place &to, const Place &from, backend::Stream *stream, guf_error *error);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_TRANSFER_H
