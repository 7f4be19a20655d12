// SPDX-License-Identifier: Apache-2.0
// Validation of a call's arguments. The C API layer has already checked the pointers.
#ifndef GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H
#define GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H

#include "core/op/call_view.h"

namespace gufunc::validate {

// Checks the counts, enum values and flags of the arguments, before any operand is checked.
// Errors  GUF_E_ARG <= wrong counts, a NULL pointer that is required, unknown flags or enum values
guf_status check_args(const op::Ufunc &ufunc, const guf_call_args &args, guf_error *error);

// Returns GUF_E_ARG with the message that a field of a call's or method's arguments is invalid:
// "args->casting: expected a guf_casting, got 9".
guf_status fail_value(const char *field, const char *expected, int64_t found, guf_error *error);

// Checks the requested floating-point flags and the reserved field.
// Errors  GUF_E_ARG <= unknown flags, no pointer to report them to, reserved is not 0
guf_status check_options(const guf_call_options &options, guf_error *error);

// Checks one tensor and writes its layout. For a tensor without strides, C-contiguous strides are
// written to `stride_buffer`. `operand` is the argument number for error messages.
// Errors  GUF_E_ARG <= unknown flags, a NULL shape, or address 0 with elements
//         GUF_E_DTYPE <= the dtype is not valid
//         GUF_E_SHAPE <= ndim, a negative extent, or the size or address range overflows
guf_status check_tensor(const guf_tensor &tensor, int32_t operand, int64_t *stride_buffer,
                        array::Layout *out, guf_error *error);

// Checks the operands of a call: kinds, mask, and outputs that are read-only or self-overlapping.
// Errors  GUF_E_ARG <= an output is not an array or tensor
//         GUF_E_READ_ONLY <= an output is read-only
//         GUF_E_OVERLAP <= elements of an output overlap each other
//         GUF_E_CASTING <= the mask is not bool
guf_status check_operands(const op::CallView &call, guf_error *error);

}  // namespace gufunc::validate

#endif  // GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H
