// SPDX-License-Identifier: Apache-2.0
// Decisions about staged copies, and their layout.
#include "core/call/staging.h"

#include <gufunc/kernel/item_copy.hpp>

#include <algorithm>

#include "core/array/overlap.h"
#include "core/base/checked.h"

namespace gufunc::call {
namespace {

using base::kNone;

// Finds the inputs that share memory with a separate output. Such an input must be copied even if
// it is the same view as the output, because the values of the inout operand are copied to its
// separate output before the launch.
OverlapCopies find_separate_overlaps(const op::CallView &call) {
  OverlapCopies copies = {0, 0, false};
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t o = 0; o < call.noperands; ++o) {
    if (!signature.writes(o)) continue;
    const auto overlaps_output = [&](const op::OperandView &operand) {
      return has_memory(operand) && array::shares_memory(operand.layout, call.operand[o].layout);
    };
    for (int32_t i = 0; i < call.noperands; ++i) {
      if (!signature.writes(i) && overlaps_output(call.operand[i])) copies.copied |= 1U << i;
    }
    if (call.has_where && overlaps_output(call.where)) copies.mask_copied = true;
  }
  return copies;
}

// Only kernels that gufcc compiled overwrite an operand, not host functions of a program.
bool may_overwrite(const op::Ufunc &ufunc, const op::Loop &loop) {
  if (op::is_host_function(loop)) return false;
  const uint32_t flags = loop.function != nullptr ? loop.function->flags : ufunc.flags;
  return (flags & GUF_FUNCTION_OVERWRITES) != 0;
}

}  // namespace

bool overwrites_first(const op::CallView &call, const resolve::Choice &choice,
                      const broadcast::LoopShape &loop) {
  const op::Signature &signature = call.ufunc->signature;
  if (!signature.generalized || loop.items == 0 || !may_overwrite(*call.ufunc, *choice.loop))
    return false;
  int64_t sizes[GUF_MAX_CORE_NAMES];
  const int32_t ndim = signature.core_ndim[0];
  for (int32_t k = 0; k < ndim; ++k) {
    sizes[k] = loop.core_size[signature.operand_dims[static_cast<size_t>(k)]];
    if (sizes[k] == 0) return false;
  }
  const auto itemsize = static_cast<int64_t>(dtype::itemsize(choice.loop->types[0]));
  return !call.device->host_memory || !guf::loop_copies_item(sizes, ndim, itemsize);
}

Staging Staging::of_call(const op::CallView &call, const resolve::Choice &choice,
                         const OverlapCopies *overlaps, bool overwrites) {
  Staging made;
  const bool separate = call.nseparate != 0;
  OverlapCopies copies = {0, 0, false};
  if (separate) {
    copies = find_separate_overlaps(call);
  } else if (overlaps != nullptr) {
    copies = *overlaps;
  }
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const op::OperandView &view = call.operand[i];
    const bool transferred = needs_transfer(call, view);
    const bool writes = signature.writes(i);
    if (i == 0 && overwrites) {
      made.add({i, view.layout.dtype, true, false, true});
    } else if (separate && writes) {
      // The function runs in place on the separate output. It needs a copy if the output is
      // transferred or does not have the dtype of the loop, or if there is a mask, because elements
      // that the mask excludes must not change.
      const guf_dtype dtype = choice.loop->types[static_cast<size_t>(i)];
      const bool is_cast = view.layout.dtype != dtype || (view.flags & op::kSwapped) != 0;
      if (transferred || is_cast || call.has_where) {
        // If the function reads the operand, SeparateOutputs::load fills the copy with the values
        // of the inout operand. Otherwise the copy is loaded, except from another device, because
        // transfers between devices are slow.
        made.add({i, dtype, !signature.reads(i) && !transferred, true});
      }
    } else if (transferred) {
      // A transfer between devices is slow, so an output that the function does not read is not
      // loaded.
      made.add({i, view.layout.dtype, signature.reads(i), writes});
    } else if (has_bit(copies.copied | copies.staged, i)) {
      // Outputs are loaded too, so that no uninitialised memory is written back if the function
      // does not write every element.
      made.add({i, view.layout.dtype, true, writes});
    }
  }
  if (!call.has_where) return made;
  if (copies.mask_copied || (call.where.flags & op::kScalar) != 0 ||
      needs_transfer(call, call.where)) {
    made.add({call.noperands, call.where.layout.dtype, true, false});
  }
  return made;
}

Staging Staging::of_plan(const op::CallView &call, const OverlapCopies &overlaps, bool overwrites) {
  Staging made;
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (i == 0 && overwrites) {
      made.add({i, call.operand[i].layout.dtype, true, false, true});
      continue;
    }
    if (!has_bit(overlaps.copied | overlaps.staged, i)) continue;
    made.add({i, call.operand[i].layout.dtype, true, call.ufunc->signature.writes(i)});
  }
  // The mask is read again when a staged output is written back. By then, an earlier output of the
  // launch may have overwritten the mask, so the mask is copied before the launch.
  const bool reads_mask_late = overlaps.staged != 0 && call.has_where && has_memory(call.where);
  if (overlaps.mask_copied || reads_mask_late) {
    made.add({call.noperands, call.where.layout.dtype, true, false});
  }
  return made;
}

bool Staging::contains(int32_t operand) const {
  return std::any_of(begin(), end(),
                     [&](const StagedOperand &staged) { return staged.operand == operand; });
}

guf_status lay_out_copy(const array::Layout &operand, guf_dtype dtype, bool whole,
                        StagedLayout *out, guf_error *error) {
  const int32_t ndim = operand.ndim;
  const auto is_repeated = [&](int32_t k) { return !whole && operand.strides[k] == 0; };
  for (int32_t k = 0; k < ndim; ++k) {
    out->shape[k] = is_repeated(k) ? std::min<int64_t>(operand.shape[k], 1) : operand.shape[k];
  }
  uint64_t size = 0;
  GUF_TRY(array::count_elements(dtype, ndim, out->shape, &size, error));
  out->nbytes = size * dtype::itemsize(dtype);
  array::contiguous_strides(dtype, ndim, out->shape, GUF_ORDER_C, out->strides);
  for (int32_t k = 0; k < ndim; ++k)
    out->broadcast_strides[k] = is_repeated(k) ? 0 : out->strides[k];
  return GUF_OK;
}

guf_status spread(const op::CallView &call, const broadcast::LoopShape &loop, int32_t operand,
                  SpreadLayout *out, guf_error *error) {
  const array::Layout &layout = call.operand[operand].layout;
  GUF_TRY(broadcast::operand_shape(call, loop, operand, &out->ndim, out->shape, error));
  const int32_t pad = out->ndim - layout.ndim;
  out->repeats = false;
  for (int32_t k = 0; k < out->ndim; ++k) {
    const bool has_stride = k >= pad && layout.shape[k - pad] != 1;
    out->strides[k] = has_stride ? layout.strides[k - pad] : 0;
    out->repeats = out->repeats || (out->strides[k] == 0 && out->shape[k] > 1);
  }
  return GUF_OK;
}

guf_status append_copy(const StagedLayout &copy, int32_t operand, uint64_t *size,
                       uint64_t *out_offset, guf_error *error) {
  *out_offset = *size;
  const uint64_t rounded =
      (copy.nbytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  if (base::checked_add(*size, rounded, size)) return GUF_OK;
  return base::fail(error, GUF_E_SHAPE, operand, kNone, "the workspace's size overflows");
}

}  // namespace gufunc::call
