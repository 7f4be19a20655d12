// SPDX-License-Identifier: Apache-2.0
// NumPy's rule for overlapping operands. Inputs are copied rather than outputs staged, because a
// copy of an input needs no writing back and leaves masks alone; only outputs that overlap one
// another are staged, as in NumPy.
#include "core/operand_overlap.h"

#include "core/array/overlap.h"

namespace gufunc::pipeline {
namespace {

bool has_memory(const op::OperandView &operand) {
  return (operand.flags & (op::kScalar | op::kMissing)) == 0;
}

// Whether an item may read and write the same view: it then reads before it writes, and no other
// item's elements.
bool may_run_in_place(const op::Ufunc &ufunc) {
  return !ufunc.signature.generalized || (ufunc.flags & GUF_FUNCTION_INPLACE_SAFE) != 0;
}

uint32_t bit(int32_t operand) {
  return 1U << operand;
}

// Outputs overlap one another: NumPy writes each output that overlaps anything else into a copy, in
// order.
uint32_t staged_outputs(const op::CallView &call) {
  uint32_t staged = 0;
  for (int32_t o = 0; o < call.noperands; ++o) {
    if (!call.ufunc->signature.writes(o)) continue;
    for (int32_t other = 0; other < call.noperands; ++other) {
      if (other == o || (staged & bit(other)) != 0) continue;
      if (lie_of(call, o, other) == Lie::kMixed) staged |= bit(o);
    }
  }
  return staged;
}

}  // namespace

Lie lie_of(const op::CallView &call, int32_t a, int32_t b) {
  const op::OperandView &one = call.operand[a];
  const op::OperandView &other = call.operand[b];
  if (!has_memory(one) || !has_memory(other)) return Lie::kApart;
  if (may_run_in_place(*call.ufunc) && array::same_view(one.layout, other.layout))
    return Lie::kSame;
  return array::shares_memory(one.layout, other.layout) ? Lie::kMixed : Lie::kApart;
}

OverlapWork find_overlaps(const op::CallView &call) {
  OverlapWork work = {0, 0, false};
  const op::Signature &signature = call.ufunc->signature;
  array::ByteSpan spans[GUF_MAX_OPERANDS];
  for (int32_t i = 0; i < call.noperands; ++i) {
    spans[i] = has_memory(call.operand[i]) ? array::span_of(call.operand[i].layout)
                                           : array::ByteSpan{0, 0};
  }
  bool outputs_overlap = false;
  for (int32_t o = 0; o < call.noperands; ++o) {
    if (!signature.writes(o)) continue;
    for (int32_t other = 0; other < call.noperands; ++other) {
      if (__builtin_expect(!array::meet(spans[o], spans[other]), 1) || other == o) continue;
      if (lie_of(call, o, other) != Lie::kMixed) continue;
      if (signature.writes(other)) {
        outputs_overlap = true;
      } else {
        work.copied |= bit(other);
      }
    }
    if (call.has_where && has_memory(call.where) && has_memory(call.operand[o]) &&
        array::shares_memory(call.operand[o].layout, call.where.layout)) {
      work.mask_copied = true;
    }
  }
  if (outputs_overlap) {
    work.staged = staged_outputs(call);
    work.copied = 0;
  }
  return work;
}

}  // namespace gufunc::pipeline
