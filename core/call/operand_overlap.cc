// SPDX-License-Identifier: Apache-2.0
// Detection of overlapping operands. Where possible, an input is copied instead of an output being
// staged (computed in a temporary array), because the copy of an input is not written back and does
// not involve the mask. Outputs that overlap each other are written as if one after the other, in
// the order of the operands. (In NumPy, the result depends on the order in which its loops run.)
#include "core/call/operand_overlap.h"

#include <algorithm>

#include "core/array/overlap.h"

namespace gufunc::call {
namespace {

// Returns whether an input and an output may be the same view. This requires that the ufunc reads
// an item before it writes the item, and that it reads no elements of other items to compute the
// item.
bool may_run_in_place(const op::Ufunc &ufunc) {
  return !ufunc.signature.generalized || (ufunc.flags & GUF_FUNCTION_INPLACE_SAFE) != 0;
}

uint32_t bit(int32_t operand) {
  return 1U << operand;
}

}  // namespace

Overlap overlap_of(const op::CallView &call, int32_t a, int32_t b) {
  const op::OperandView &one = call.operand[a];
  const op::OperandView &other = call.operand[b];
  if (!has_memory(one) || !has_memory(other)) return Overlap::kDisjoint;
  const op::Signature &signature = call.ufunc->signature;
  const bool both_written = signature.writes(a) && signature.writes(b);
  if (!both_written && may_run_in_place(*call.ufunc) &&
      array::same_view(one.layout, other.layout)) {
    return Overlap::kIdentical;
  }
  return array::shares_memory(one.layout, other.layout) ? Overlap::kPartial : Overlap::kDisjoint;
}

bool find_overlaps(const op::CallView &call, OverlapCopies *out) {
  // Locals are used, because building and returning a struct costs 5 ns of failed store forwarding.
  uint32_t copied = 0;
  uint32_t staged = 0;
  bool mask_copied = false;
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t o = 0; o < call.noperands; ++o) {
    if (!signature.writes(o)) continue;
    for (int32_t other = 0; other < call.noperands; ++other) {
      if (__builtin_expect(!array::spans_overlap(call.operand[o].span, call.operand[other].span),
                           1) ||
          other == o) {
        continue;
      }
      if (overlap_of(call, o, other) != Overlap::kPartial) continue;
      if (signature.writes(other)) {
        staged |= bit(std::max(o, other));
      } else {
        copied |= bit(other);
      }
    }
    if (call.has_where && array::spans_overlap(call.operand[o].span, call.where.span) &&
        array::shares_memory(call.operand[o].layout, call.where.layout)) {
      mask_copied = true;
    }
  }
  if (copied == 0 && staged == 0 && !mask_copied) return false;
  *out = {copied, staged, mask_copied};
  return true;
}

}  // namespace gufunc::call
