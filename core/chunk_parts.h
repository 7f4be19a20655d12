// SPDX-License-Identifier: Apache-2.0
// The operands of a chunked call: what of each belongs to a chunk.
#ifndef GUFUNC_CORE_CHUNK_PARTS_H
#define GUFUNC_CORE_CHUNK_PARTS_H

#include <vector>

#include "core/broadcast/loop_shape.h"
#include "core/memory/memory.h"

namespace gufunc::pipeline {

// An operand, or the mask, that has the outermost loop dimension. Views of a chunk borrow the
// part's dimensions: one chunk at a time.
struct ChunkPart {
  op::OperandView *view;  // of the call; redirected chunk by chunk
  array::Layout home;     // all of it
  bool swapped;
  bool load, store;
  int32_t axis;                   // that is cut; -1: it lacks the axis, for the only chunk
  uint64_t item_bytes;            // of one outer item, packed
  uint64_t place;                 // within a slot's memory, set by the ring
  int64_t shape[GUF_MAX_NDIM];    // of a chunk
  int64_t packed[GUF_MAX_NDIM];   // strides of a packed chunk
  int64_t strides[GUF_MAX_NDIM];  // of `home`, which turned axes may move

  // A chunk of `count` outer items where it lies.
  array::Layout at_home(int64_t first, int64_t count);
  // The same, packed, at an address.
  array::Layout packed_at(uint64_t address, int64_t count);
};

// Parts of a decided call, in the order of its operands, the mask last. `items`: extent of the
// outermost loop dimension.
// Errors  GUF_E_SHAPE <= sizes overflow
guf_status find_parts(op::CallView &call, const broadcast::LoopShape &loop, int64_t items,
                      std::vector<ChunkPart> *out, guf_error *error);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_CHUNK_PARTS_H
