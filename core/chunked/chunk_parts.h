// SPDX-License-Identifier: Apache-2.0
// The operands of a chunked call: the part of each operand that belongs to a chunk, and how it is
// transferred.
#ifndef GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H
#define GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H

#include <vector>

#include "core/chunked/chunk_cut.h"
#include "core/memory/memory.h"
#include "core/resolve/resolve.h"

namespace gufunc::chunked {

// How the device accesses a part.
enum class PartAccess : uint8_t {
  kStaged,   // the cpu's threads pack it into page-locked memory, which is copied
  kDirect,   // already page-locked and packed, so it is copied directly
  kInPlace,  // the device reads and writes the operand's memory in place
};

// An operand, or the mask, that has a dimension which is cut. The layouts of a chunk point into
// this struct, so only one chunk's layouts are valid at a time.
struct ChunkPart {
  op::OperandView *view;  // a view of the call, redirected to each chunk
  array::Layout home;     // the whole operand
  bool swapped;
  bool load, store;
  PartAccess access;
  guf_dtype dtype;                // dtype when packed: the operand's, or the loop's if no wider
  int32_t lead;                   // number of loop dimensions that the operand lacks
  int32_t axis;                   // the axis that is cut; -1 if the operand lacks or broadcasts it
  uint64_t line_bytes;            // bytes of one position along `axis`, packed
  uint64_t there, here;           // offsets in a slot's memory on the device and on the host
  int64_t shape[GUF_MAX_NDIM];    // shape of a chunk
  int64_t packed[GUF_MAX_NDIM];   // strides of a packed chunk
  int64_t strides[GUF_MAX_NDIM];  // strides of `home`, copied because axes= may overwrite them

  // The layout of a chunk in the operand's memory.
  array::Layout at_home(const ChunkCut &cut, const ChunkRange &range);
  // The layout of a packed chunk at an address.
  array::Layout packed_at(uint64_t address, const ChunkRange &range);
  uint64_t bytes(int64_t count) const {
    return line_bytes * static_cast<uint64_t>(axis < 0 ? 1 : count);
  }
};

// Finds the parts of a call whose types and shapes are known, in the order of its operands, the
// mask last.
// Errors  GUF_E_SHAPE <= sizes overflow
guf_status find_parts(op::CallView &call, const broadcast::LoopShape &loop, const ChunkCut &cut,
                      const resolve::Choice &choice, std::vector<ChunkPart> *out, guf_error *error);

}  // namespace gufunc::chunked

#endif  // GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H
