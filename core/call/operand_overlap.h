// SPDX-License-Identifier: Apache-2.0
// Finds the operands of a call that must be copied because operands overlap. The result must be as
// if all inputs had been copied first.
#ifndef GUFUNC_CORE_CALL_OPERAND_OVERLAP_H
#define GUFUNC_CORE_CALL_OPERAND_OVERLAP_H

#include "core/op/call_view.h"

namespace gufunc::call {

// Whether the operand is memory of the caller: not a scalar, and not an output to allocate.
inline bool has_memory(const op::OperandView &operand) {
  return (operand.flags & (op::kScalar | op::kMissing)) == 0;
}

inline bool is_bit(uint32_t set, int32_t operand) {
  return (set >> operand & 1U) != 0;
}

// Sets of operands, one bit per operand.
struct OverlapWork {
  uint32_t copied;  // inputs that are read from a copy
  uint32_t staged;  // outputs that are written to a copy, which is then written back
  bool mask_copied;
};

// The relation of the memory of two operands of a call, one of which is written.
enum class Overlap { kApart, kSame, kMixed };
Overlap overlap_of(const op::CallView &call, int32_t a, int32_t b);

// Returns false if no operand needs a copy; `out` is then not written. If no spans overlap, it
// costs one comparison of bounds per pair.
bool find_overlaps(const op::CallView &call, OverlapWork *out);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_OPERAND_OVERLAP_H
