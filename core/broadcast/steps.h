// SPDX-License-Identifier: Apache-2.0
// The steps of `arrange` that only gufuncs take; each is a file beside this one.
#ifndef GUFUNC_CORE_BROADCAST_STEPS_H
#define GUFUNC_CORE_BROADCAST_STEPS_H

#include "core/broadcast/loop_shape.h"

namespace gufunc::broadcast {

// Says which operand a failure is about, as NumPy does: inputs and outputs are counted apart.
inline const char *side_name(const op::Signature &signature, int32_t operand) {
  return operand < signature.nin ? "Input" : "Output";
}
inline int32_t side_index(const op::Signature &signature, int32_t operand) {
  return operand < signature.nin ? operand : operand - signature.nin;
}
inline bool is_missing(const op::CallView &call, int32_t operand) {
  return op::is_missing(call.operand[operand]);
}

// How many core axes each operand has, and which optional dimensions are missing.
guf_status count_core_axes(const op::CallView &call, LoopShape *loop, guf_error *error);

// axes=, axis=, keepdims=: turns operands. Needs `count_core_axes`.
guf_status turn_operands(op::CallView &call, LoopShape *loop, guf_error *error);

// The size of every core dimension. Needs turned operands.
guf_status find_core_sizes(const op::CallView &call, LoopShape *loop, guf_error *error);

// The size that a value rule reads.
guf_status read_size(const op::CallView &call, const op::DimRule &rule, int64_t *out,
                     guf_error *error);

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_STEPS_H
