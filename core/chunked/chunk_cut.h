// SPDX-License-Identifier: Apache-2.0
// The division of a chunked call's loop dimensions into chunks: the size and the order of the
// chunks.
#ifndef GUFUNC_CORE_CHUNKED_CHUNK_CUT_H
#define GUFUNC_CORE_CHUNKED_CHUNK_CUT_H

#include "core/broadcast/broadcast.h"

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
  // `bytes` limits the size of the largest operand in a chunk.
  void decide(const op::CallView &call, const broadcast::LoopShape &loop, uint64_t bytes);

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

}  // namespace gufunc::chunked

#endif  // GUFUNC_CORE_CHUNKED_CHUNK_CUT_H
