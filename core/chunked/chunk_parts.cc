// SPDX-License-Identifier: Apache-2.0
// Divides a chunked call into chunks, and its operands into parts.
#include "core/chunked/chunk_parts.h"

#include <algorithm>

#include "core/array/overlap.h"
#include "core/base/checked.h"
#include "core/call/operand_overlap.h"
#include "core/call/staging.h"
#include "core/memory/page_locks.h"

namespace gufunc::chunked {
namespace {

// Returns the packed size in bytes of an operand per position along loop dimension `dim`.
uint64_t bytes_per_position(const array::Layout &layout, int32_t own,
                            const broadcast::LoopShape &loop, int32_t dim) {
  uint64_t bytes = dtype::itemsize(layout.dtype);
  const int32_t nmissing_dims = loop.ndim - own;  // loop dimensions that the operand does not have
  for (int32_t k = std::max(dim + 1 - nmissing_dims, 0); k < layout.ndim; ++k) {
    if (layout.strides[k] == 0) continue;  // broadcast: one element is stored
    if (!base::checked_mul(bytes, static_cast<uint64_t>(layout.shape[k]), &bytes))
      return UINT64_MAX;
  }
  return bytes;
}

// Returns the size in bytes, per position along loop dimension `dim`, of the copy of the first
// operand, which is not broadcast.
uint64_t copy_per_position(const op::CallView &call, const broadcast::LoopShape &loop,
                           int32_t dim) {
  const array::Layout &layout = call.operand[0].layout;
  uint64_t bytes = dtype::itemsize(layout.dtype);
  const auto multiply = [&](int64_t extent) {
    if (!base::checked_mul(bytes, static_cast<uint64_t>(extent), &bytes)) bytes = UINT64_MAX;
  };
  std::for_each(layout.shape + layout.ndim - loop.core_ndim[0], layout.shape + layout.ndim,
                multiply);
  std::for_each(loop.extent + dim + 1, loop.extent + loop.ndim, multiply);
  return bytes;
}

// Returns the size of the largest operand per position along loop dimension `dim`. `copies` is
// true if each chunk copies the first operand because the kernel overwrites it.
uint64_t largest_behind(const op::CallView &call, const broadcast::LoopShape &loop, bool copies,
                        int32_t dim) {
  uint64_t largest = copies ? std::max<uint64_t>(copy_per_position(call, loop, dim), 1) : 1;
  const int32_t count = call.noperands + (call.has_where ? 1 : 0);
  for (int32_t i = 0; i < count; ++i) {
    const bool is_mask = i == call.noperands;
    const op::OperandView &view = is_mask ? call.where : call.operand[i];
    if (!call::has_memory(view)) continue;
    const int32_t own = view.layout.ndim - (is_mask ? 0 : loop.core_ndim[i]);
    largest = std::max(largest, bytes_per_position(view.layout, own, loop, dim));
  }
  return largest;
}

// Returns whether an operand's address changes along a loop dimension.
bool moves_along(const array::Layout &layout, int32_t nmissing_dims, int32_t dim) {
  const int32_t axis = dim - nmissing_dims;
  return axis >= 0 && layout.shape[axis] != 1 && layout.strides[axis] != 0;
}

// Computes the shape of an operand's part of a chunk, except for the axis that is cut, and the
// C-ordered strides of the packed part. Broadcast axes have one element.
guf_status pack(const ChunkCut &cut, ChunkPart *part, int32_t operand, guf_error *error) {
  const array::Layout &full = part->full_layout;
  uint64_t bytes = dtype::itemsize(part->dtype);
  for (int32_t k = full.ndim - 1; k >= 0; --k) {
    const int32_t dim = k + part->nmissing_dims;
    const bool is_line = dim >= cut.outer() && dim < cut.inner();
    part->shape[k] = is_line || full.strides[k] == 0 ? 1 : full.shape[k];
    part->packed[k] = full.strides[k] == 0 ? 0 : static_cast<int64_t>(bytes);
    if (k == part->axis) continue;
    if (!base::checked_mul(bytes, static_cast<uint64_t>(part->shape[k]), &bytes)) {
      return base::fail(error, GUF_E_SHAPE, operand, k, "argument %d: its size overflows", operand);
    }
  }
  part->line_bytes = bytes;
  return GUF_OK;
}

// Returns whether the call both reads and writes this operand's memory, through this operand or
// through another one. The results of a chunk for such an operand are written to the caller's
// memory only when the chunk is complete, so that a call that was stopped can be resumed.
bool is_updated(const op::CallView &call, int32_t operand, const ChunkPart &part) {
  const op::Signature &signature = call.ufunc->signature;
  if (operand < call.noperands && signature.reads(operand) && signature.writes(operand))
    return true;
  const array::ByteSpan &span = part.view->span;
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (i == operand || !call::has_memory(call.operand[i])) continue;
    if ((part.store || signature.writes(i)) && array::spans_overlap(span, call.operand[i].span))
      return true;
  }
  return call.has_where && part.store && array::spans_overlap(span, call.where.span);
}

bool is_packed(const ChunkPart &part) {
  for (int32_t k = 0; k < part.full_layout.ndim; ++k) {
    const bool moves = part.shape[k] != 1 || k == part.axis;
    if (moves && part.strides[k] != part.packed[k]) return false;
  }
  return !part.swapped;
}

PartAccess access_of(const op::CallView &call, int32_t operand, const ChunkPart &part) {
  if (is_updated(call, operand, part)) return PartAccess::kStaged;
  if (part.view->device == call.device) return PartAccess::kInPlace;
  const bool locked = is_packed(part) && memory::is_page_locked(*part.view, *call.device);
  return locked ? PartAccess::kDirect : PartAccess::kStaged;
}

// Returns the dtype in which a part is transferred. This is the loop's dtype if it is not wider
// than the operand's dtype, both dtypes are numeric, and the part is not transferred in both
// directions. Otherwise it is the operand's dtype.
guf_dtype crossing_dtype(const ChunkPart &part, guf_dtype loop) {
  const guf_dtype own = part.full_layout.dtype;
  const bool plain = !dtype::is_extended(own) && !dtype::is_extended(loop);
  // A cast and its reverse could change the elements that the loop does not write.
  const bool returns = part.load && part.store;
  return plain && !returns && dtype::itemsize(loop) <= dtype::itemsize(own) ? loop : own;
}

}  // namespace

void ChunkCut::decide(const op::CallView &call, const broadcast::LoopShape &loop,
                      const resolve::Choice &choice, uint64_t bytes) {
  const bool copies = call::overwrites_first(call, choice, loop);
  std::copy_n(loop.extent, loop.ndim, extent_);
  const int64_t *const end = extent_ + loop.ndim;
  const auto is_long = [](int64_t extent) { return extent > 1; };
  const int64_t *const longest = std::find_if<const int64_t *>(extent_, end, is_long);
  outer_ = longest == end ? 0 : static_cast<int32_t>(longest - extent_);
  inner_ = outer_;
  items_ = loop.ndim == 0 ? 1 : extent_[outer_];
  lines_ = 1;
  const auto is_last = [&] {
    return loop.ndim == 0 || std::none_of<const int64_t *>(extent_ + inner_ + 1, end, is_long);
  };
  while (!is_last() && largest_behind(call, loop, copies, inner_) > bytes)
    lines_ *= extent_[inner_++];
  length_ = loop.ndim == 0 ? 1 : extent_[inner_];
  const uint64_t fit = bytes / largest_behind(call, loop, copies, loop.ndim == 0 ? -1 : inner_);
  chunk_ = std::clamp<int64_t>(static_cast<int64_t>(std::min<uint64_t>(fit, INT64_MAX)), 1,
                               std::max<int64_t>(length_, 1));
}

ChunkRange ChunkCut::at(int64_t line, int64_t first) const {
  return {line, first, std::min(chunk_, length_ - first)};
}

ChunkRange ChunkCut::first_of(int64_t item) const {
  if (inner_ == outer_) return item == items_ ? at(lines_, 0) : at(0, item);
  return at(item * (lines_ / items_), 0);
}

ChunkRange ChunkCut::next(const ChunkRange &range) const {
  const int64_t next = range.first + range.count;
  return next == length_ ? at(range.line + 1, 0) : at(range.line, next);
}

int64_t ChunkCut::count(const ChunkRange &from, int64_t most) const {
  int64_t found = 0;
  for (ChunkRange range = from; found < most && !is_end(range); range = next(range)) ++found;
  return found;
}

int64_t ChunkCut::items_done(const ChunkRange &range) const {
  if (inner_ == outer_) return range.first + range.count;
  const int64_t lines = range.line + (range.first + range.count == length_ ? 1 : 0);
  return lines / (lines_ / items_);
}

void ChunkCut::restrict_to(const ChunkRange &range, broadcast::LoopShape *loop) const {
  if (loop->ndim == 0) return;
  for (int32_t dim = outer_; dim < inner_; ++dim) loop->extent[dim] = 1;
  loop->extent[inner_] = range.count;
  loop->items = static_cast<uint64_t>(range.count);
  for (int32_t dim = inner_ + 1; dim < loop->ndim; ++dim)
    loop->items *= static_cast<uint64_t>(loop->extent[dim]);
}

array::Layout ChunkPart::host_layout(const ChunkCut &cut, const ChunkRange &range) {
  uint64_t address = full_layout.address;
  int64_t line = range.line;
  for (int32_t dim = cut.inner() - 1; dim >= cut.outer(); --dim) {
    const int64_t index = line % cut.extent(dim);
    line /= cut.extent(dim);
    if (dim >= nmissing_dims && full_layout.shape[dim - nmissing_dims] != 1)
      address += static_cast<uint64_t>(index * strides[dim - nmissing_dims]);
  }
  if (axis >= 0) {
    shape[axis] = range.count;
    address += static_cast<uint64_t>(range.first * strides[axis]);
  }
  return {full_layout.dtype, full_layout.ndim, shape, strides, address};
}

array::Layout ChunkPart::packed_at(uint64_t address, const ChunkRange &range) {
  if (axis >= 0) shape[axis] = range.count;
  return {dtype, full_layout.ndim, shape, packed, address};
}

guf_status find_parts(op::CallView &call, const broadcast::LoopShape &loop, const ChunkCut &cut,
                      const resolve::Choice &choice, std::vector<ChunkPart> *out,
                      guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t count = call.noperands + (call.has_where ? 1 : 0);
  out->clear();
  for (int32_t i = 0; i < count; ++i) {
    const bool is_mask = i == call.noperands;
    op::OperandView &view = is_mask ? call.where : call.operand[i];
    if (!call::has_memory(view)) continue;
    ChunkPart part = {};
    part.view = &view;
    part.full_layout = view.layout;
    part.swapped = (view.flags & op::kSwapped) != 0;
    part.store = !is_mask && signature.writes(i);
    part.load = is_mask || signature.reads(i) || (part.store && call.has_where);
    part.nmissing_dims = loop.ndim - (view.layout.ndim - (is_mask ? 0 : loop.core_ndim[i]));
    bool moves = part.store;
    for (int32_t dim = cut.outer(); dim <= cut.inner() && dim < loop.ndim; ++dim)
      moves = moves || moves_along(view.layout, part.nmissing_dims, dim);
    if (!moves) continue;
    const bool has_axis =
        loop.ndim > 0 && moves_along(view.layout, part.nmissing_dims, cut.inner());
    part.axis = has_axis ? cut.inner() - part.nmissing_dims : -1;
    std::copy_n(view.layout.strides, view.layout.ndim, part.strides);
    part.dtype = part.full_layout.dtype;
    GUF_TRY(pack(cut, &part, i, error));
    part.access = access_of(call, i, part);
    if (part.access == PartAccess::kStaged && !is_mask) {
      part.dtype = crossing_dtype(part, choice.loop->types[static_cast<size_t>(i)]);
      GUF_TRY(pack(cut, &part, i, error));
    }
    out->push_back(part);
  }
  return GUF_OK;
}

}  // namespace gufunc::chunked
