// SPDX-License-Identifier: Apache-2.0
// The parts of a chunked call's operands that belong to a chunk, and how they are transferred.
#ifndef GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H
#define GUFUNC_CORE_CHUNKED_CHUNK_PARTS_H

#include <vector>

#include "core/chunked/chunk_cut.h"
#include "core/memory/memory.h"
#include "core/resolve/resolve.h"

namespace gufunc::chunked {

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
