// SPDX-License-Identifier: Apache-2.0
// Integers out of operands: what reduceat and at index with.
#ifndef GUFUNC_CORE_METHOD_INDICES_H
#define GUFUNC_CORE_METHOD_INDICES_H

#include "core/op/call_view.h"

namespace gufunc::method {

// Readable by the host, and written by nothing queued before: waits for the stream.
// Errors  GUF_E_DEVICE_MISMATCH <= the operand lies in device memory
guf_status make_readable(const op::OperandView &operand, backend::Stream *stream, int32_t index,
                         guf_error *error);

// One element at `address`, of an integer type or bool. Unsigned values beyond int64 wrap.
int64_t read_index(guf_dtype type, bool swapped, uint64_t address);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INDICES_H
