// SPDX-License-Identifier: Apache-2.0
// Decides which operands a launch accesses in a staged copy instead of in their own memory, in
// which order the copies are made and written back, and which layout each copy has. Calls and plans
// both use these decisions, but they allocate memory and copy elements separately
// (docs/decisions/0024-calls-and-plans-share-staging-decisions.md).
#ifndef GUFUNC_CORE_CALL_STAGING_H
#define GUFUNC_CORE_CALL_STAGING_H

#include "core/backend/backend.h"
#include "core/broadcast/broadcast.h"
#include "core/call/operand_overlap.h"
#include "core/op/call_view.h"
#include "core/resolve/resolve.h"

namespace gufunc::call {

// Returns whether the operand is in host memory that the call's device cannot access.
inline bool needs_transfer(const op::CallView &call, const op::OperandView &operand) {
  return call.host_copies != op::HostCopies::kNone && has_memory(operand) &&
         (operand.device == nullptr || operand.device->host_memory);
}

// An operand, or the mask, that the launch accesses in a staged copy.
struct StagedOperand {
  int32_t operand;     // index of the operand in the call, or call.noperands for the mask
  guf_dtype dtype;     // dtype of the copy
  bool load;           // whether the operand's values are copied to the copy before the launch
  bool store;          // whether the values of the copy are written back after the launch
  bool whole = false;  // whether no two items of the launch share elements of the copy
};

inline op::OperandView &staged_view(op::CallView &call, const StagedOperand &staged) {
  return staged.operand == call.noperands ? call.where : call.operand[staged.operand];
}

// Returns whether a call must pass a copy of its first operand, because the kernel overwrites the
// operand and the host loop does not copy it.
bool overwrites_first(const op::CallView &call, const resolve::Choice &choice,
                      const broadcast::LoopShape &loop);

// The staged operands of a call, in the order of the operands, with the mask last. Before the
// launch, operands are copied in this order, and all copies are made before any operand is written.
// After the launch, outputs are written back in this order. If two outputs overlap, the shared
// elements therefore have the values of the later output.
class Staging {
 public:
  // Returns the operands that a call copies. All outputs must have memory. `overlaps` is the result
  // of find_overlaps, or nullptr if it found none. For a call with separate outputs, `overlaps` is
  // not used, and each written operand must already be replaced by its separate output.
  // `overwrites` is the result of overwrites_first.
  static Staging of_call(const op::CallView &call, const resolve::Choice &choice,
                         const OverlapCopies *overlaps, bool overwrites = false);
  // Returns the operands that a plan of the call copies at each launch. A plan does not transfer
  // operands between devices, and stores scalars itself. A launch may pass a mask that overlaps an
  // output, even if they did not overlap when the plan was made.
  static Staging of_plan(const op::CallView &call, const OverlapCopies &overlaps,
                         bool overwrites = false);

  const StagedOperand *begin() const { return staged_; }
  const StagedOperand *end() const { return staged_ + size_; }
  bool contains(int32_t operand) const;

 private:
  Staging() {}
  void add(const StagedOperand &staged) { staged_[size_++] = staged; }

  int32_t size_ = 0;
  StagedOperand staged_[GUF_MAX_OPERANDS + 1];
};

// The layout of a staged copy, which is C-contiguous. Unless the copy is whole, an axis along which
// the operand has stride 0 has extent 1 in the copy, so that no element is copied twice.
struct StagedLayout {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  int64_t broadcast_strides[GUF_MAX_NDIM];  // strides of the copy in the shape of the operand
  uint64_t nbytes;
};

// Computes the layout of a copy of `operand` with elements of type `dtype`.
// Errors  GUF_E_SHAPE <= the size of the copy overflows
guf_status lay_out_copy(const array::Layout &operand, guf_dtype dtype, bool whole,
                        StagedLayout *out, guf_error *error);

// An operand with all loop dimensions of a call. Dimensions along which the operand is broadcast
// have stride 0.
struct SpreadLayout {
  int32_t ndim;
  bool repeats;  // whether the operand is broadcast
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
};

// Errors  GUF_E_SHAPE <= more than GUF_MAX_NDIM dimensions
guf_status spread(const op::CallView &call, const broadcast::LoopShape &loop, int32_t operand,
                  SpreadLayout *out, guf_error *error);

// The alignment in bytes of a workspace and of the copies in it.
inline constexpr uint64_t kWorkspaceAlignment = 64;

// Appends the copy of an operand to a workspace. Adds the size of the copy to `size`, the size of
// the workspace, and stores the offset of the copy in `out_offset`.
// Errors  GUF_E_SHAPE <= the size of the workspace overflows
guf_status append_copy(const StagedLayout &copy, int32_t operand, uint64_t *size,
                       uint64_t *out_offset, guf_error *error);

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_STAGING_H
