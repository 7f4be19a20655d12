// SPDX-License-Identifier: Apache-2.0
// Converts the arguments of calls and methods to the core's views. Checks pointers, handles and
// counts, and copies as little as possible.
#ifndef GUFUNC_ABI_UNPACK_CALL_H
#define GUFUNC_ABI_UNPACK_CALL_H

#include "core/call/placement.h"
#include "core/method/method.h"
#include "core/method/state_reduce.h"

namespace gufunc::capi {

// Fills `out` from the arguments. Pointers in `out` point into `out` itself, to memory of the
// caller, or into `buffer`, which receives a copy of the arguments if their struct_size is smaller
// than that of this version.
// Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG, GUF_E_DTYPE, GUF_E_SHAPE <= as guf_call
guf_status unpack_call(guf_ufunc ufunc, const guf_call_args *args, guf_call_args *buffer,
                       op::CallView *out, guf_error *error);
guf_status unpack_call(op::Ufunc &ufunc, const guf_call_args *args, guf_call_args *buffer,
                       op::CallView *out, guf_error *error);

// Records the chosen device in the trace if the call used the device "auto" and succeeded. Returns
// `status`.
inline guf_status trace_choice(const op::CallView &call, guf_status status) {
  if (__builtin_expect(call.automatic == nullptr, 1)) return status;
  if (status == GUF_OK) call::trace_auto(call);
  return status;
}

// Unpacks the stream and the device of a call or method.
// Errors  GUF_E_HANDLE <= the stream or device is not a live handle of its kind
guf_status unpack_options(const guf_call_options &options, op::CallView *call, guf_error *error);

// Unpacks one operand. `index` is its position in the call, for messages. GUF_OPERAND_NONE is an
// error for inputs.
guf_status unpack_operand(const guf_operand &in, int32_t index, bool is_input,
                          int64_t *stride_buffer, op::OperandView *out, guf_error *error);

// Each of the functions below unpacks the arguments of a method. It fills `out`, whose pointers
// refer to `out` itself or to the caller's memory. `*out_output` receives the caller's output
// operand. For a reduction with a user-defined accumulator, it receives the first of the results;
// unpack_results checks all results.
// Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG, GUF_E_DTYPE, GUF_E_SHAPE <= as guf_call
guf_status unpack_reduce(guf_ufunc ufunc, const guf_reduce_args *args, method::ReduceView *out,
                         guf_operand **out_output, guf_error *error);

// Unpacks the results and the parameters of a reduction with a user-defined accumulator.
guf_status unpack_results(const method::ReduceView &view, const guf_operand *results,
                          method::StateResults *out, guf_error *error);

// `with_indices` is true for reduceat, which requires indices. accumulate rejects them.
guf_status unpack_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, bool with_indices,
                             method::ReduceView *out, guf_operand **out_output, guf_error *error);

guf_status unpack_at(guf_ufunc ufunc, const guf_at_args *args, method::AtView *out,
                     guf_error *error);

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_UNPACK_CALL_H
