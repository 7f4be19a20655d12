// SPDX-License-Identifier: Apache-2.0
// Converts the decisions of a call to the launch block of a backend.
#ifndef GUFUNC_CORE_GEOMETRY_LAUNCH_H
#define GUFUNC_CORE_GEOMETRY_LAUNCH_H

#include <gufunc/backend.h>

#include "core/broadcast/broadcast.h"
#include "core/resolve/resolve.h"

namespace gufunc::geometry {

inline constexpr int32_t kMaxExcess = GUF_MAX_NDIM - GUF_MAX_LOOP_NDIM;

// An aligned address for operands of launches that are described but not executed.
inline constexpr uint64_t kDummyAddress = uint64_t{1} << 40;

// A launch block, and the excess loop dimensions. The excess dimensions do not fit into the block,
// so the core iterates over them. The fields are uninitialised; only the used entries are written.
struct Launch {
  guf_launch_block block;
  int32_t nexcess;
  int64_t excess_size[kMaxExcess];
  int64_t excess_step[kMaxExcess][GUF_MAX_OPERANDS];
  int64_t excess_mask_step[kMaxExcess];
  uint64_t stride_bits[GUF_MAX_OPERANDS];  // bitwise OR of the strides of each operand
};

struct Request {
  const op::CallView &call;
  const broadcast::LoopShape &loop;
  const resolve::Choice &choice;
};

// Computes the launch block of a call. The block of an elementwise ufunc has loop dimensions only.
// Errors  GUF_E_INTERNAL <= more loop or core dimensions than a launch block has entries for
guf_status make_launch(const Request &request, Launch *out, guf_error *error);

// Returns whether the address or a stride is not a multiple of the dtype's alignment.
inline bool breaks_alignment(guf_dtype dtype, uint64_t address, uint64_t stride_bits) {
  return ((address | stride_bits) & (dtype::alignment(dtype) - 1)) != 0;
}

// Flags the operand and the block if the operand's address or a stride is unaligned.
inline void flag_alignment(guf_launch_block *block, int32_t operand, uint64_t stride_bits) {
  if (__builtin_expect(
          breaks_alignment(block->dtype[operand], block->address[operand], stride_bits), 0)) {
    block->operand_flags[operand] |= GUF_LAUNCH_OPERAND_UNALIGNED;
    block->flags |= GUF_LAUNCH_SWAPPED;
  }
}

}  // namespace gufunc::geometry

#endif  // GUFUNC_CORE_GEOMETRY_LAUNCH_H
