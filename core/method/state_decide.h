// SPDX-License-Identifier: Apache-2.0
// What is decided about a reduction with a state before anything is allocated.
#ifndef GUFUNC_CORE_METHOD_STATE_DECIDE_H
#define GUFUNC_CORE_METHOD_STATE_DECIDE_H

#include "core/method/result.h"
#include "core/method/state_reduce.h"
#include "core/resolve/resolve.h"

namespace gufunc::method {

// Kept axes of a reduction with a state; two more axes are for the leaves and their elements.
inline constexpr int32_t kMostKept = GUF_MAX_NDIM - 2;

struct StatePlan {
  array::AxisSet folded;
  ResultAxes axes;
  int64_t elements;      // of one result
  resolve::Choice leaf;  // its loop
  int32_t nstates;
  guf_dtype state[GUF_MAX_OPERANDS];
  guf_dtype result[GUF_MAX_OPERANDS];  // that the last step gives
};

// Also gives missing results their dtype.
// Errors  those of guf_reduce before a launch
guf_status decide_states(FoldView &view, StateResults &results, StatePlan *out, guf_error *error);

// The stride of an operand along all folded axes of `input` as one, in C order; it may have fewer
// axes, and stretch. False when they have several strides: the operand is copied first.
bool find_fold_stride(const array::Layout &own, const array::Layout &input,
                      const array::AxisSet &folded, int64_t *out);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_STATE_DECIDE_H
