// SPDX-License-Identifier: Apache-2.0
// Reductions with a user-defined accumulator of several values. A generalized ufunc
// (the block function) computes an accumulator from the elements of a base block, a second
// ufunc (merge) combines two accumulators, and an optional third ufunc (finish)
// computes the results from the final accumulator.
#ifndef GUFUNC_CORE_OP_STATE_REDUCTION_H
#define GUFUNC_CORE_OP_STATE_REDUCTION_H

#include "core/base/object.h"
#include "core/op/signature.h"

namespace gufunc::op {

class Ufunc;

// The ufuncs that, together with a block function, form a reduction. None of them may be a
// reduction itself, so no reference cycle can arise.
struct StateReduction {
  base::Ref<Ufunc> merge;
  base::Ref<Ufunc> finish;  // if empty, the accumulator is the result

  int32_t nresults() const;
  // The number of parameters, which are the inputs of finish that follow the accumulator.
  int32_t nparameters() const;
};

// The inputs of a block function: the elements, signature (n); then, if the block function has
// these inputs, the index of the first element, signature (), and the mask, signature (n), which
// selects the elements that take part.
struct BlockInputs {
  static constexpr int32_t kElements = 0;
  int32_t first = base::kNone;
  int32_t mask = base::kNone;
};

BlockInputs block_inputs(const Signature &block_function);

// Checks that the signatures of the parts match.
// Errors  GUF_E_SIGNATURE <= the signatures of the parts do not match
guf_status check_state_reduction(const Signature &block_function, const Signature &merge,
                                 const Signature *finish, guf_error *error);

// Fails if a block function would reduce no elements and does not accept this.
// Errors  GUF_E_VALUE <= n is 0, and the ufunc lacks GUF_FUNCTION_ACCEPTS_EMPTY
guf_status check_elements(const Ufunc &block_function, int64_t n, guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_STATE_REDUCTION_H
