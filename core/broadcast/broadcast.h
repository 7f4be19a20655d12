// SPDX-License-Identifier: Apache-2.0
// Broadcasting: NumPy's rules for loop and core dimensions, and the rules of signatures.
#ifndef GUFUNC_CORE_BROADCAST_BROADCAST_H
#define GUFUNC_CORE_BROADCAST_BROADCAST_H

#include "core/broadcast/loop_shape.h"

namespace gufunc::broadcast {

// Computes the loop dimensions and the core sizes of a call whose dtypes are resolved. With axes=
// or axis=, the layouts of the operands are replaced by permuted layouts, which point into `out`
// and `call.stride_buffer`. Reads elements only to evaluate value rules such as "n=value(1)".
// Errors  GUF_E_SHAPE <= shapes do not broadcast (NumPy's messages), or a rule contradicts a size
//         GUF_E_AXIS, GUF_E_ARG <= invalid axes=, axis=, keepdims= or dims=
//         GUF_E_VALUE <= the operand of a value rule has several values, or its value is not a size
//         GUF_E_DEVICE_MISMATCH <= the operand of a value rule is in device memory
guf_status broadcast_operands(op::CallView &call, LoopShape *out, guf_error *error);

// Computes the shape of an operand in the kernel's order: the loop extents, then the core sizes.
// `out` has GUF_MAX_NDIM entries.
// Errors  GUF_E_SHAPE <= more than GUF_MAX_NDIM dimensions
guf_status operand_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                         int32_t *out_ndim, int64_t *out, guf_error *error);

// Like operand_shape, but with the axes in the order that the caller requested with axes=.
guf_status caller_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                        int32_t *out_ndim, int64_t *out, guf_error *error);

// Computes the strides of an output that the library allocates, for the shape from operand_shape.
// order= has NumPy's meaning. With K, the loop dimensions follow the strides of the operands that
// the caller passed, and the core dimensions are last, in C order. With F, the whole output is
// F-contiguous.
// Errors  GUF_E_SHAPE <= the size overflows
guf_status result_strides(const op::CallView &call, const LoopShape &loop, int32_t operand,
                          int32_t ndim, const int64_t *shape, int64_t *out, guf_error *error);

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_BROADCAST_H
