// SPDX-License-Identifier: Apache-2.0
// The decisions of a call, written down as the block a backend launches. Planners are tried in
// order; further kinds of call (reductions, scans) are further planners.
#ifndef GUFUNC_CORE_PLAN_PLANNER_H
#define GUFUNC_CORE_PLAN_PLANNER_H

#include <gufunc/backend.h>

#include <span>

#include "core/broadcast/loop_shape.h"
#include "core/resolve/resolve.h"

namespace gufunc::plan {

inline constexpr int32_t kMaxRest = GUF_MAX_NDIM - GUF_MAX_LOOP_NDIM;

// A block, and the loop dimensions beyond those it holds: the core loops over them. Not initialised
// as a whole.
struct Launch {
  guf_launch_block block;
  int32_t nrest;
  int64_t rest_size[kMaxRest];
  int64_t rest_step[kMaxRest][GUF_MAX_OPERANDS];
  int64_t rest_mask_step[kMaxRest];
  uint64_t stride_bits[GUF_MAX_OPERANDS];  // OR of each operand's strides, for alignment
};

struct Request {
  const op::CallView &call;
  const broadcast::LoopShape &loop;
  const resolve::Choice &choice;
};

struct Planner {
  const char *name;
  // Why this planner does not take the call, or nullptr when it does. Static text.
  const char *(*refusal)(const op::CallView &call);
  guf_status (*make)(const Request &request, Launch *out, guf_error *error);
};

extern const Planner kElementwise;
extern const Planner kGufunc;

// In the order in which they are tried.
std::span<const Planner *const> planners();

// The first planner that takes the call.
// Errors  GUF_E_UNSUPPORTED <= none does
guf_status choose(const op::CallView &call, const Planner **out, guf_error *error);

// Whether an address or the strides break the dtype's alignment.
inline bool breaks_alignment(guf_dtype dtype, uint64_t address, uint64_t stride_bits) {
  return ((address | stride_bits) & (dtype::alignment(dtype) - 1)) != 0;
}

// Sets the block's flags for an operand that is not aligned.
inline void flag_alignment(guf_launch_block *block, int32_t operand, uint64_t stride_bits) {
  if (__builtin_expect(
          breaks_alignment(block->dtype[operand], block->address[operand], stride_bits), 0)) {
    block->operand_flags[operand] |= GUF_LAUNCH_OPERAND_UNALIGNED;
    block->flags |= GUF_LAUNCH_SWAPPED;
  }
}

}  // namespace gufunc::plan

#endif  // GUFUNC_CORE_PLAN_PLANNER_H
