// SPDX-License-Identifier: Apache-2.0
// Converts guf_call_args to the core's view of a call:
// checks pointers and handles, and copies as little as possible.
#ifndef GUFUNC_ABI_UNPACK_CALL_H
#define GUFUNC_ABI_UNPACK_CALL_H

#include "core/call/auto_placement.h"

namespace gufunc::capi {

// Fills `out` from the arguments. The pointers in `out` refer to `out` itself,
// to the caller's memory, or to `buffer`, which contains a copy of the arguments if their
// struct_size is not the current one.
// Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG, GUF_E_DTYPE, GUF_E_SHAPE <= as guf_call
guf_status unpack_call(guf_ufunc ufunc, const guf_call_args *args, guf_call_args *buffer,
                       op::CallView *out, guf_error *error);
guf_status unpack_call(op::Ufunc &ufunc, const guf_call_args *args, guf_call_args *buffer,
                       op::CallView *out, guf_error *error);

// Records the chosen device in the trace after a call on device "auto". Returns `status`.
inline guf_status trace_choice(const op::CallView &call, guf_status status) {
  if (__builtin_expect(call.automatic == nullptr, 1)) return status;
  if (status == GUF_OK) pipeline::trace_auto(call);
  return status;
}

// Unpacks the operand at position `index` of the call. GUF_OPERAND_NONE is an error for inputs.
guf_status unpack_operand(const guf_operand &in, int32_t index, bool is_input,
                          int64_t *stride_buffer, op::OperandView *out, guf_error *error);

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_UNPACK_CALL_H
