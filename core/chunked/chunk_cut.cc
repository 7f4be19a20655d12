// SPDX-License-Identifier: Apache-2.0
#include "core/chunked/chunk_cut.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/call/operand_overlap.h"

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

uint64_t largest_behind(const op::CallView &call, const broadcast::LoopShape &loop, int32_t dim) {
  uint64_t largest = 1;
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

}  // namespace

void ChunkCut::decide(const op::CallView &call, const broadcast::LoopShape &loop, uint64_t bytes) {
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
  while (!is_last() && largest_behind(call, loop, inner_) > bytes) lines_ *= extent_[inner_++];
  length_ = loop.ndim == 0 ? 1 : extent_[inner_];
  const uint64_t fit = bytes / largest_behind(call, loop, loop.ndim == 0 ? -1 : inner_);
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

}  // namespace gufunc::chunked
