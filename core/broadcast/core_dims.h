// SPDX-License-Identifier: Apache-2.0
// The steps of `broadcast_operands` for gufuncs: core axes, and the sizes of core dimensions.
#ifndef GUFUNC_CORE_BROADCAST_CORE_DIMS_H
#define GUFUNC_CORE_BROADCAST_CORE_DIMS_H

#include "core/broadcast/broadcast.h"

namespace gufunc::broadcast {

// Names of operands in error messages. As in NumPy, inputs and outputs are numbered separately.
inline const char *role_name(const op::Signature &signature, int32_t operand) {
  return operand < signature.nin ? "Input" : "Output";
}
inline int32_t role_index(const op::Signature &signature, int32_t operand) {
  return operand < signature.nin ? operand : operand - signature.nin;
}
inline bool is_missing(const op::CallView &call, int32_t operand) {
  return op::is_missing(call.operand[operand]);
}

// Computes the number of core axes of each operand, and which optional dimensions are missing.
guf_status count_core_axes(const op::CallView &call, LoopShape *loop, guf_error *error);

// Applies axes=, axis= and keepdims= by permuting the operands. Must run after `count_core_axes`.
guf_status permute_operands(op::CallView &call, LoopShape *loop, guf_error *error);

// Computes the size of every core dimension. Must run after `permute_operands`.
guf_status find_core_sizes(const op::CallView &call, LoopShape *loop, guf_error *error);

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_CORE_DIMS_H
