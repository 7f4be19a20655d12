// SPDX-License-Identifier: Apache-2.0
// Which operands of a call must be copied so that the result is as if inputs had been copied first.
#ifndef GUFUNC_CORE_OPERAND_OVERLAP_H
#define GUFUNC_CORE_OPERAND_OVERLAP_H

#include "core/op/call_view.h"

namespace gufunc::pipeline {

// Whether an operand is memory of the caller's: no scalar, and no output to allocate.
inline bool has_memory(const op::OperandView &operand) {
  return (operand.flags & (op::kScalar | op::kMissing)) == 0;
}

inline bool is_bit(uint32_t set, int32_t operand) {
  return (set >> operand & 1U) != 0;
}

// Bits by operand.
struct OverlapWork {
  uint32_t copied;  // inputs to read from a copy
  uint32_t staged;  // outputs to write into a copy, which is then written back
  bool mask_copied;
};

// How two operands of a call, one of them written, lie to one another.
enum class Lie { kApart, kSame, kMixed };
Lie lie_of(const op::CallView &call, int32_t a, int32_t b);

// False when no operand needs a copy; `out` is then not written. Cheap when nothing meets: one
// comparison of bounds per pair.
bool find_overlaps(const op::CallView &call, OverlapWork *out);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_OPERAND_OVERLAP_H
