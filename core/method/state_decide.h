// SPDX-License-Identifier: Apache-2.0
// The decisions about a reduction with a user-defined accumulator, before anything is allocated.
// core/op/state_fold.h explains the leaf, merge and finish ufuncs.
#ifndef GUFUNC_CORE_METHOD_STATE_DECIDE_H
#define GUFUNC_CORE_METHOD_STATE_DECIDE_H

#include "core/method/result.h"
#include "core/method/state_reduce.h"
#include "core/resolve/resolve.h"

namespace gufunc::method {

// The maximal number of kept axes. Two more axes are needed: the base blocks and their elements.
inline constexpr int32_t kMaxKept = GUF_MAX_NDIM - 2;

struct StateDecision {
  array::AxisSet folded;
  ResultAxes axes;
  int64_t elements;      // number of elements per result
  resolve::Choice leaf;  // the loop of the leaf ufunc
  int32_t nstates;
  guf_dtype state[GUF_MAX_OPERANDS];
  guf_dtype result[GUF_MAX_OPERANDS];  // dtypes of the results before their cast to the outputs
};

// Makes the decisions, and sets the dtypes of missing results.
// Errors  as guf_reduce before a launch
guf_status decide_states(FoldView &view, StateResults &results, StateDecision *out,
                         guf_error *error);

// Computes the stride of an operand when all reduced axes of `input` are treated as a single axis
// in C order. The operand may have fewer axes than `input` and may be broadcast. Returns false if
// there is no such stride; the caller must then copy the operand first.
bool find_fold_stride(const array::Layout &own, const array::Layout &input,
                      const array::AxisSet &folded, int64_t *out);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_STATE_DECIDE_H
