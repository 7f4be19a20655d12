// SPDX-License-Identifier: Apache-2.0
// Reductions with a user-defined accumulator of several values. A generalized ufunc (the leaf)
// computes an accumulator from the elements of a base block, a second ufunc merges two
// accumulators, and a third one computes the results from the last accumulator.
#ifndef GUFUNC_CORE_OP_STATE_FOLD_H
#define GUFUNC_CORE_OP_STATE_FOLD_H

#include "core/base/object.h"
#include "core/op/signature.h"

namespace gufunc::op {

class Ufunc;

// The parts that make a ufunc, the leaf, a reduction. No part may be a reduction itself, so no
// reference cycle can arise.
struct StateFold {
  base::Ref<Ufunc> merge;
  base::Ref<Ufunc> finish;  // empty: the accumulator is the result

  int32_t nresults() const;
};

// The inputs of a leaf, in this order. A leaf may omit the last ones.
enum LeafInput : int32_t {
  kLeafElements = 0,  // (n)
  kLeafFirst = 1,     // (): the index of the first element
  kLeafMask = 2,      // (n): whether an element takes part
};

// Errors  GUF_E_SIGNATURE <= the signatures of the parts do not match
guf_status check_state_fold(const Signature &leaf, const Signature &merge, const Signature *finish,
                            guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_STATE_FOLD_H
