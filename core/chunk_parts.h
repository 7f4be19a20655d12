// SPDX-License-Identifier: Apache-2.0
// The operands of a chunked call: what of each belongs to a chunk, and how it gets there.
#ifndef GUFUNC_CORE_CHUNK_PARTS_H
#define GUFUNC_CORE_CHUNK_PARTS_H

#include <vector>

#include "core/chunk_cut.h"
#include "core/memory/memory.h"
#include "core/resolve/resolve.h"

namespace gufunc::pipeline {

// How a device comes by a part.
enum class PartAccess : uint8_t {
  kStaged,   // packed by the cpu's threads into page-locked memory, and copied from there
  kDirect,   // page-locked and packed as it lies: copied as it is
  kInPlace,  // the device reads and writes it where it lies
};

// An operand, or the mask, that has a dimension which is cut. Views of a chunk borrow the part's
// dimensions: one chunk at a time.
struct ChunkPart {
  op::OperandView *view;  // of the call; redirected chunk by chunk
  array::Layout home;     // all of it
  bool swapped;
  bool load, store;
  PartAccess access;
  guf_dtype dtype;      // of a packed chunk: the loop's where that is no wider, and nothing is lost
  int32_t lead;         // loop dimensions that the operand does not have
  int32_t axis;         // that is cut; -1: it lacks it, or stretches
  uint64_t line_bytes;  // of one position along it, packed
  uint64_t there, here;           // within a slot's memory on the device and of the host
  int64_t shape[GUF_MAX_NDIM];    // of a chunk
  int64_t packed[GUF_MAX_NDIM];   // strides of a packed chunk
  int64_t strides[GUF_MAX_NDIM];  // of `home`, which turned axes may move

  // A chunk where it lies.
  array::Layout at_home(const ChunkCut &cut, const ChunkRange &range);
  // The same, packed, at an address.
  array::Layout packed_at(uint64_t address, const ChunkRange &range);
  uint64_t bytes(int64_t count) const {
    return line_bytes * static_cast<uint64_t>(axis < 0 ? 1 : count);
  }
};

// Parts of a decided call, in the order of its operands, the mask last.
// Errors  GUF_E_SHAPE <= sizes overflow
guf_status find_parts(op::CallView &call, const broadcast::LoopShape &loop, const ChunkCut &cut,
                      const resolve::Choice &choice, std::vector<ChunkPart> *out, guf_error *error);

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_CHUNK_PARTS_H
