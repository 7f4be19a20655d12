// SPDX-License-Identifier: Apache-2.0
// Broadcasting: NumPy's rules for loop dimensions, gufunc core dimensions, and the rules beside the
// signature.
#ifndef GUFUNC_CORE_BROADCAST_BROADCAST_H
#define GUFUNC_CORE_BROADCAST_BROADCAST_H

#include "core/broadcast/loop_shape.h"

namespace gufunc::broadcast {

// Finds the loop of a call whose types are resolved. With axes= the operands' layouts are replaced
// by turned ones that live in `out` and in the call's stride room. Reads elements only for value
// rules.
// Errors  GUF_E_SHAPE <= NumPy's texts; a rule's size;  GUF_E_AXIS, GUF_E_ARG <= axes=, axis=,
//         keepdims=, dims=
//         GUF_E_VALUE <= a value rule's operand has several values, or one that is no size
//         GUF_E_DEVICE_MISMATCH <= it lies in device memory
guf_status arrange(op::CallView &call, LoopShape *out, guf_error *error);

// Shape of an operand as the kernel has it: loop extents, then its core sizes. `out` holds
// GUF_MAX_NDIM.
// Errors  GUF_E_SHAPE <= more than GUF_MAX_NDIM dimensions
guf_status operand_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                         int32_t *out_ndim, int64_t *out, guf_error *error);

// The same with the axes where the caller wants them (axes=).
guf_status caller_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                        int32_t *out_ndim, int64_t *out, guf_error *error);

// Strides of an output to allocate, for the shape of `operand_shape`, by order= as NumPy: K follows
// the inputs' strides on the loop dimensions, core dimensions come last and C-ordered; F is F
// throughout.
// Errors  GUF_E_SHAPE <= the size overflows
guf_status result_strides(const op::CallView &call, const LoopShape &loop, int32_t operand,
                          int32_t ndim, const int64_t *shape, int64_t *out, guf_error *error);

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_BROADCAST_H
