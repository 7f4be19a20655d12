// SPDX-License-Identifier: Apache-2.0
// Validation of a call: the values of its arguments. The C API layer has checked the pointers.
#ifndef GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H
#define GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H

#include "core/op/call_view.h"

namespace gufunc::validate {

// Checks the counts, enum values and flags of the arguments, before any operand is checked.
// Errors  GUF_E_ARG <= wrong counts, a required pointer that is NULL, unknown flags or enum values
guf_status check_args(const op::Ufunc &ufunc, const guf_call_args &args, guf_error *error);

// Fails with GUF_E_ARG: a field of the arguments of a call or method has an invalid value.
guf_status fail_value(const char *field, int64_t found, guf_error *error);

// Checks the requested floating-point flags and the reserved field.
// Errors  GUF_E_ARG <= unknown flags, no pointer to report them to, reserved is not 0
guf_status check_options(const guf_call_options &options, guf_error *error);

// Checks one tensor and writes its layout. A tensor without strides gets C-contiguous strides,
// written to `stride_buffer`. `operand` is the argument number for error messages.
// Errors  GUF_E_ARG <= flags, NULL shape, address 0 with elements;  GUF_E_DTYPE
//         GUF_E_SHAPE <= ndim, a negative extent, the size or the address range overflows
guf_status check_tensor(const guf_tensor &tensor, int32_t operand, int64_t *stride_buffer,
                        array::Layout *out, guf_error *error);

// Checks the operands of a call: their kinds, outputs that are read-only or overlap themselves, and
// the mask.
// Errors  GUF_E_ARG <= an output is not an array or tensor
//         GUF_E_READ_ONLY, GUF_E_OVERLAP <= outputs;  GUF_E_CASTING <= the mask is not bool
guf_status check_operands(const op::CallView &call, guf_error *error);

}  // namespace gufunc::validate

#endif  // GUFUNC_CORE_VALIDATE_VALIDATE_CALL_H
