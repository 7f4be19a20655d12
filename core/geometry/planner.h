// SPDX-License-Identifier: Apache-2.0
// Planners, which write the decisions of a call into the launch block of a backend. The planners
// are tried in order. A further kind of call (a reduction, a scan) is a further planner.
#ifndef GUFUNC_CORE_GEOMETRY_PLANNER_H
#define GUFUNC_CORE_GEOMETRY_PLANNER_H

#include <gufunc/backend.h>

#include <span>

#include "core/broadcast/loop_shape.h"
#include "core/resolve/resolve.h"

namespace gufunc::geometry {

inline constexpr int32_t kMaxRest = GUF_MAX_NDIM - GUF_MAX_LOOP_NDIM;

// A launch block and the loop dimensions that exceed it, over which the core loops. Left
// uninitialised: planners write the used entries.
struct Launch {
  guf_launch_block block;
  int32_t nrest;
  int64_t rest_size[kMaxRest];
  int64_t rest_step[kMaxRest][GUF_MAX_OPERANDS];
  int64_t rest_mask_step[kMaxRest];
  uint64_t stride_bits[GUF_MAX_OPERANDS];  // bitwise OR of each operand's strides
};

struct Request {
  const op::CallView &call;
  const broadcast::LoopShape &loop;
  const resolve::Choice &choice;
};

struct Planner {
  const char *name;
  // Returns the reason why this planner does not support the call, or nullptr if it does. The text
  // is static.
  const char *(*refusal)(const op::CallView &call);
  guf_status (*make)(const Request &request, Launch *out, guf_error *error);
};

extern const Planner kElementwise;
extern const Planner kGufunc;

// All planners, in the order in which they are tried.
std::span<const Planner *const> planners();

// Returns the first planner that supports the call.
// Errors  GUF_E_UNSUPPORTED <= no planner supports it
guf_status choose(const op::CallView &call, const Planner **out, guf_error *error);

// Whether the address or a stride is not a multiple of the dtype's alignment.
inline bool breaks_alignment(guf_dtype dtype, uint64_t address, uint64_t stride_bits) {
  return ((address | stride_bits) & (dtype::alignment(dtype) - 1)) != 0;
}

// Flags the operand and the block as unaligned if the operand's address or strides are.
inline void flag_alignment(guf_launch_block *block, int32_t operand, uint64_t stride_bits) {
  if (__builtin_expect(
          breaks_alignment(block->dtype[operand], block->address[operand], stride_bits), 0)) {
    block->operand_flags[operand] |= GUF_LAUNCH_OPERAND_UNALIGNED;
    block->flags |= GUF_LAUNCH_SWAPPED;
  }
}

}  // namespace gufunc::geometry

#endif  // GUFUNC_CORE_GEOMETRY_PLANNER_H
