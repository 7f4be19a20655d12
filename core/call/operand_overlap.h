// SPDX-License-Identifier: Apache-2.0
// Finds the operands of a call that must be copied because they overlap. The result must be as if
// all inputs had been copied before the call.
#ifndef GUFUNC_CORE_CALL_OPERAND_OVERLAP_H
#define GUFUNC_CORE_CALL_OPERAND_OVERLAP_H

#include "core/op/call_view.h"

namespace gufunc::call {

// Returns whether the operand is in memory of the caller, that is, neither a scalar
// nor an output that the library allocates.
inline bool has_memory(const op::OperandView &operand) {
  return (operand.flags & (op::kScalar | op::kMissing)) == 0;
}

inline bool has_bit(uint32_t set, int32_t operand) {
  return (set >> operand & 1U) != 0;
}

// Sets of operands that need a copy, with one bit per operand.
struct OverlapCopies {
  uint32_t copied;  // inputs that are read from a copy
  uint32_t staged;  // outputs that are computed in a copy, which is then written back
  bool mask_copied;
};

// How the memory of two operands of a call overlaps. At least one of the operands is written.
enum class Overlap { kDisjoint, kIdentical, kPartial };
Overlap overlap_of(const op::CallView &call, int32_t a, int32_t b);

// Returns false if no operand needs a copy; `out` is then not written. If no byte spans overlap,
// the cost is one comparison of bounds per pair of operands.
bool find_overlaps(const op::CallView &call, OverlapCopies *out);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_OPERAND_OVERLAP_H
