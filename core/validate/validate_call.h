// SPDX-License-Identifier: Apache-2.0
// Validation of a call: the meaning of its arguments. The C API layer has checked the pointers.
#ifndef GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H
#define GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H

#include "core/op/call_view.h"

namespace gufunc::validate {

// Checks counts, enum values and flags of the arguments before operands are looked at.
// Errors  GUF_E_ARG <= counts, NULL where something must be, unknown flags or enum values
guf_status check_args(const op::Ufunc &ufunc, const guf_call_args &args, guf_error *error);

// Fails with GUF_E_ARG: a field of a call's or method's arguments has a value that it cannot have.
guf_status fail_value(const char *field, int64_t found, guf_error *error);

// Checks the floating-point events that are asked for.
// Errors  GUF_E_ARG <= unknown events, nowhere to report them
guf_status check_fp_flags(const guf_call_args &args, guf_error *error);

// Checks one tensor and gives it strides: those it has, or C-contiguous ones written to
// `stride_room`. `operand` names it in messages.
// Errors  GUF_E_ARG <= flags, NULL shape, address 0 with elements;  GUF_E_DTYPE
//         GUF_E_SHAPE <= ndim, a negative extent, the size or the address range overflows
guf_status check_tensor(const guf_tensor &tensor, int32_t operand, int64_t *stride_room,
                        array::Layout *out, guf_error *error);

// Checks the operands of a call: kinds, outputs that cannot be written, outputs that overlap
// themselves, the mask.
// Errors  GUF_E_ARG <= an operand that must be an array or tensor is none
//         GUF_E_READ_ONLY, GUF_E_OVERLAP <= outputs;  GUF_E_CASTING <= the mask is no bool
guf_status check_operands(const op::CallView &call, guf_error *error);

}  // namespace gufunc::validate

#endif  // GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H
