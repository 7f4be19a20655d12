// SPDX-License-Identifier: Apache-2.0
// Reductions with a state of several values: a generalized ufunc makes a state of the elements of a
// leaf, a second one merges two states, a third one makes the results of the last.
#ifndef GUFUNC_CORE_OP_STATE_FOLD_H
#define GUFUNC_CORE_OP_STATE_FOLD_H

#include "core/base/object.h"
#include "core/op/signature.h"

namespace gufunc::op {

class Ufunc;

// What makes a ufunc, the leaf, a reduction. Neither part has one of its own, so no ring can arise.
struct StateFold {
  base::Ref<Ufunc> merge;
  base::Ref<Ufunc> finish;  // empty: the state is the result

  int32_t nresults() const;
};

// The inputs of a leaf, in this order; a leaf may leave out the last ones.
enum LeafInput : int32_t {
  kLeafElements = 0,  // (n)
  kLeafFirst = 1,     // (): the number of the first element
  kLeafMask = 2,      // (n): whether an element takes part
};

// Errors  GUF_E_SIGNATURE <= the parts do not fit one another
guf_status check_state_fold(const Signature &leaf, const Signature &merge, const Signature *finish,
                            guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_STATE_FOLD_H
