// SPDX-License-Identifier: Apache-2.0
// Reductions with a user-defined accumulator (core/op/state_reduction.h). The elements are split
// into base blocks of 128, which are numbered in C order over the reduced axes. One launch reduces
// each base block to an accumulator. Accumulators are then merged in aligned pairs, level by level,
// and a last step converts the final accumulator to the results. Every step is an ordinary call on
// arrays of accumulators. The bits of the result therefore depend only on the shape, and every
// backend supports these reductions.
#ifndef GUFUNC_CORE_METHOD_STATE_REDUCE_H
#define GUFUNC_CORE_METHOD_STATE_REDUCE_H

#include "core/method/method.h"

namespace gufunc::method {

// The results that the caller passed or omitted, and the parameters that the caller passed, which
// are scalars. Only the first `count` results and the first `nparameters` parameters are
// initialised.
struct StateResults {
  int32_t count;
  int32_t nparameters;
  op::OperandView result[GUF_MAX_OPERANDS];
  op::OperandView parameter[GUF_MAX_OPERANDS];
  int64_t strides[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
};

// Runs the reduction. `view` is prepared as for `reduce`, with the block function as ufunc and no
// output.
guf_status reduce_states(ReduceView &view, StateResults &results, guf_operand *outputs,
                         guf_error *error);
// Resolves the types and shapes. Result k is operand 1 + k of the resolution.
guf_status resolve_states(ReduceView &view, StateResults &results, guf_resolution *out,
                          guf_error *error);
guf_status explain_states(ReduceView &view, StateResults &results, std::string *out,
                          guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_STATE_REDUCE_H
