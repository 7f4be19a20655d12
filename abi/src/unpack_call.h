// SPDX-License-Identifier: Apache-2.0
// guf_call_args as the core's view of a call: pointers and handles checked, nothing copied that
// need not be.
#ifndef GUFUNC_ABI_UNPACK_CALL_H
#define GUFUNC_ABI_UNPACK_CALL_H

#include "core/auto_placement.h"

namespace gufunc::capi {

// Fills `out` from the arguments. Everything it points at lives in `out`, in `room` (arguments of
// another struct_size, extended) or is the caller's.
// Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG, GUF_E_DTYPE, GUF_E_SHAPE <= as guf_call
guf_status unpack_call(guf_ufunc ufunc, const guf_call_args *args, guf_call_args *room,
                       op::CallView *out, guf_error *error);

// After a call: where it ran, into the trace, if that was device auto's to say. Gives `status`.
inline guf_status told(const op::CallView &call, guf_status status) {
  if (__builtin_expect(call.automatic == nullptr, 1)) return status;
  if (status == GUF_OK) pipeline::trace_auto(call);
  return status;
}

// One operand, by its place in the call. Input: a GUF_OPERAND_NONE is refused.
guf_status unpack_operand(const guf_operand &in, int32_t index, bool is_input, int64_t *stride_room,
                          op::OperandView *out, guf_error *error);

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_UNPACK_CALL_H
