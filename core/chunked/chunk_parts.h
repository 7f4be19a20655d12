// SPDX-License-Identifier: Apache-2.0
// The division of a chunked call's loop dimensions into chunks: the size and the order of the
// chunks, the parts of the operands that belong to a chunk, and how they are transferred.
#ifndef GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H
#define GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H

#include <vector>

#include "core/broadcast/broadcast.h"
#include "core/memory/memory.h"
#include "core/resolve/resolve.h"

namespace gufunc::chunked {

// The positions `first` to `first + count - 1` along the dimension that is cut, in line `line` (see
// ChunkCut).
struct ChunkRange {
  int64_t line, first, count;
};

// The loop dimensions of a chunked call, cut into chunks. An outer item is a position along
// `outer`, which is the outermost loop dimension of extent > 1. If an outer item exceeds the size
// of a chunk, the chunks are cut along a dimension `inner` inside `outer`. Each combination of
// positions in the dimensions from `outer` up to, but excluding, `inner` is then a line.
class ChunkCut {
 public:
  // `bytes` limits the size of the largest operand in a chunk, and of a copy that a kernel
  // overwrites.
  void decide(const op::CallView &call, const broadcast::LoopShape &loop,
              const resolve::Choice &choice, uint64_t bytes);

  int32_t outer() const { return outer_; }
  int32_t inner() const { return inner_; }
  int64_t extent(int32_t dim) const { return extent_[dim]; }
  int64_t items() const { return items_; }
  int64_t chunk() const { return chunk_; }  // maximal number of positions per chunk

  // Return the first chunk of an outer item, and the chunk that follows `range`.
  ChunkRange first_of(int64_t item) const;
  ChunkRange next(const ChunkRange &range) const;
  bool is_end(const ChunkRange &range) const { return range.line >= lines_; }
  // Returns the number of chunks from `from` on, but at most `most`.
  int64_t count(const ChunkRange &from, int64_t most) const;
  // Returns the number of outer items that this chunk and all earlier chunks complete.
  int64_t items_done(const ChunkRange &range) const;

  // Restricts a loop to this chunk. `loop` may have been restricted to another chunk before.
  void restrict_to(const ChunkRange &range, broadcast::LoopShape *loop) const;

 private:
  ChunkRange at(int64_t line, int64_t first) const;

  int32_t outer_ = 0, inner_ = 0;
  int64_t items_ = 1, lines_ = 1, length_ = 1, chunk_ = 1;  // `length_`: positions per line
  int64_t extent_[GUF_MAX_NDIM] = {};
};

// How the device accesses a part.
enum class PartAccess : uint8_t {
  kStaged,   // the cpu packs the part into page-locked memory, which is then copied
  kDirect,   // the part is already page-locked and packed, and is copied directly
  kInPlace,  // the device accesses the operand's memory in place
};

// An operand (or the mask) with a dimension that is cut. The layouts of a chunk point into this
// struct, so only one chunk's layouts are valid at a time.
struct ChunkPart {
  op::OperandView *view;      // the call's view of the operand, redirected to each chunk
  array::Layout full_layout;  // layout of the whole operand
  bool swapped;
  bool load, store;
  PartAccess access;
  guf_dtype dtype;                // packed dtype: the operand's, or the loop's dtype if not wider
  int32_t nmissing_dims;          // number of loop dimensions that the operand does not have
  int32_t axis;                   // the axis that is cut; -1 if the operand lacks or broadcasts it
  uint64_t line_bytes;            // packed bytes of one position along `axis`
  uint64_t on_device, on_host;    // offsets in a slot's device memory and host memory
  int64_t shape[GUF_MAX_NDIM];    // shape of a chunk
  int64_t packed[GUF_MAX_NDIM];   // strides of a packed chunk
  int64_t strides[GUF_MAX_NDIM];  // copy of `full_layout`'s strides, which axes= may overwrite

  // Returns the layout of a chunk in the operand's memory.
  array::Layout host_layout(const ChunkCut &cut, const ChunkRange &range);
  // Returns the layout of a packed chunk at an address.
  array::Layout packed_at(uint64_t address, const ChunkRange &range);
  uint64_t bytes(int64_t count) const {
    return line_bytes * static_cast<uint64_t>(axis < 0 ? 1 : count);
  }
};

// Finds the parts of a call whose types and shapes are known, in the order of the call's operands.
// The part of the mask is last.
// Errors  GUF_E_SHAPE <= sizes overflow
guf_status find_parts(op::CallView &call, const broadcast::LoopShape &loop, const ChunkCut &cut,
                      const resolve::Choice &choice, std::vector<ChunkPart> *out, guf_error *error);

}  // namespace gufunc::chunked

#endif  // GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H
