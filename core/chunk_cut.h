// SPDX-License-Identifier: Apache-2.0
// Where the loop of a chunked call is cut: how large a chunk is, which one comes next, and what is
// behind it.
#ifndef GUFUNC_CORE_CHUNK_CUT_H
#define GUFUNC_CORE_CHUNK_CUT_H

#include "core/broadcast/loop_shape.h"

namespace gufunc::pipeline {

// Positions `first` to `first + count - 1` along the dimension that is cut, in one line of it.
struct ChunkRange {
  int64_t line, first, count;
};

// Outer items are the positions along `outer`, the outermost loop dimension that is longer than 1.
// One that is larger than a chunk is cut along a dimension further in, `inner`: each position along
// those from `outer` to before it is a line.
class ChunkCut {
 public:
  // `bytes`: of the largest operand in a chunk.
  void decide(const op::CallView &call, const broadcast::LoopShape &loop, uint64_t bytes);

  int32_t outer() const { return outer_; }
  int32_t inner() const { return inner_; }
  int64_t extent(int32_t dim) const { return extent_[dim]; }
  int64_t items() const { return items_; }
  int64_t chunk() const { return chunk_; }  // positions, at most

  // Chunks, one behind the other, from an outer item on.
  ChunkRange first_of(int64_t item) const;
  ChunkRange behind(const ChunkRange &range) const;
  bool is_end(const ChunkRange &range) const { return range.line >= lines_; }
  // Of those from there on, `most` at most.
  int64_t count(const ChunkRange &from, int64_t most) const;
  // The outer items that are complete once this chunk and all before it are.
  int64_t items_done(const ChunkRange &range) const;

  // Makes the loop that was decided on, or that of another chunk, the loop of this chunk.
  void restrict_to(const ChunkRange &range, broadcast::LoopShape *loop) const;

 private:
  ChunkRange at(int64_t line, int64_t first) const;

  int32_t outer_ = 0, inner_ = 0;
  int64_t items_ = 1, lines_ = 1, length_ = 1, chunk_ = 1;  // `length_` positions make a line
  int64_t extent_[GUF_MAX_NDIM] = {};
};

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_CHUNK_CUT_H
