// SPDX-License-Identifier: Apache-2.0
// Reads integers from operands, for the indices of reduceat and at.
#ifndef GUFUNC_CORE_METHOD_INDICES_H
#define GUFUNC_CORE_METHOD_INDICES_H

#include "core/op/call_view.h"

namespace gufunc::method {

// Ensures that the host can read an operand: checks that it is in host memory, and waits for
// `stream` (if not nullptr), so that all queued writes are complete.
// Errors  GUF_E_DEVICE_MISMATCH <= the operand is in device memory
guf_status make_readable(const op::OperandView &operand, backend::Stream *stream, int32_t index,
                         guf_error *error);

// Reads an integer or bool element at `address`. Unsigned values above INT64_MAX wrap around.
int64_t read_index(guf_dtype type, bool swapped, uint64_t address);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INDICES_H
