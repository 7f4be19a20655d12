// SPDX-License-Identifier: Apache-2.0
// Reductions with a state (core/op/state_fold.h): leaves of 128 elements, numbered in C order over
// the folded axes, each made a state by a launch of the leaf; states merged in aligned pairs, level
// by level; results made of the last. Every step is an ordinary call on arrays of states, so the
// bits follow from the shape alone and every backend can do it.
#ifndef GUFUNC_CORE_METHOD_STATE_REDUCE_H
#define GUFUNC_CORE_METHOD_STATE_REDUCE_H

#include "core/method/method.h"

namespace gufunc::method {

// The results that were given, or are missing. Not initialised as a whole.
struct StateResults {
  int32_t count;
  op::OperandView result[GUF_MAX_OPERANDS];
  int64_t strides[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
};

// `view` as for reduce, its ufunc the leaf, without an output.
guf_status reduce_states(FoldView &view, StateResults &results, guf_operand *outputs,
                         guf_error *error);
// Result k is operand 1 + k of the answer.
guf_status resolve_states(FoldView &view, StateResults &results, guf_resolution *out,
                          guf_error *error);
guf_status explain_states(FoldView &view, StateResults &results, std::string *out,
                          guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_STATE_REDUCE_H
