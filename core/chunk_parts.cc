// SPDX-License-Identifier: Apache-2.0
#include "core/chunk_parts.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/operand_overlap.h"

namespace gufunc::pipeline {

array::Layout ChunkPart::at_home(int64_t first, int64_t count) {
  uint64_t address = home.address;
  if (axis >= 0) {
    shape[axis] = count;
    address += static_cast<uint64_t>(first * strides[axis]);
  }
  return {home.dtype, home.ndim, shape, strides, address};
}

array::Layout ChunkPart::packed_at(uint64_t address, int64_t count) {
  if (axis >= 0) shape[axis] = count;
  return {home.dtype, home.ndim, shape, packed, address};
}

namespace {

// The axis of an operand that the outermost loop dimension is; -1: it has none, or stretches.
int32_t outermost_axis(const array::Layout &layout, int32_t own, const broadcast::LoopShape &loop) {
  const bool has = own == loop.ndim && own > 0 && layout.shape[0] != 1 && layout.strides[0] != 0;
  return has ? 0 : -1;
}

// Strides of a packed chunk, C-ordered.
guf_status pack(ChunkPart *part, int32_t operand, guf_error *error) {
  const array::Layout &home = part->home;
  uint64_t bytes = dtype::itemsize(home.dtype);
  for (int32_t k = home.ndim - 1; k >= 0; --k) {
    part->packed[k] = static_cast<int64_t>(bytes);
    if (k == part->axis) continue;
    if (!base::checked_mul(bytes, static_cast<uint64_t>(home.shape[k]), &bytes)) {
      return base::fail(error, GUF_E_SHAPE, operand, k, "argument %d: its size overflows", operand);
    }
  }
  part->item_bytes = bytes;
  return GUF_OK;
}

}  // namespace

guf_status find_parts(op::CallView &call, const broadcast::LoopShape &loop, int64_t items,
                      std::vector<ChunkPart> *out, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t count = call.noperands + (call.has_where ? 1 : 0);
  for (int32_t i = 0; i < count; ++i) {
    const bool is_mask = i == call.noperands;
    op::OperandView &view = is_mask ? call.where : call.operand[i];
    if (!has_memory(view)) continue;
    ChunkPart part = {};
    part.view = &view;
    part.home = view.layout;
    part.swapped = (view.flags & op::kSwapped) != 0;
    part.store = !is_mask && signature.writes(i);
    part.load = is_mask || signature.reads(i) || (part.store && call.has_where);
    part.axis =
        outermost_axis(view.layout, view.layout.ndim - (is_mask ? 0 : loop.core_ndim[i]), loop);
    if (part.axis < 0 && items > 1) continue;
    std::copy_n(view.layout.shape, view.layout.ndim, part.shape);
    std::copy_n(view.layout.strides, view.layout.ndim, part.strides);
    GUF_TRY(pack(&part, i, error));
    out->push_back(part);
  }
  return GUF_OK;
}

}  // namespace gufunc::pipeline
