// SPDX-License-Identifier: Apache-2.0
// The choice of a loop for the types of a call: NumPy's search by safe casts, then a
// check of the casting rule for each operand.
#ifndef GUFUNC_CORE_RESOLVE_RESOLVE_H
#define GUFUNC_CORE_RESOLVE_RESOLVE_H

#include "core/op/call_view.h"

namespace gufunc::resolve {

// The chosen loop. `loop` is destroyed with the ufunc.
struct Choice {
  const op::Loop *loop;
  uint32_t index;      // index of the loop in the ufunc's loops
  uint32_t cast_mask;  // bit i: the dtype of operand i differs from the type of the loop
};

// Finds the loop, checks every cast, sets the dtypes of missing outputs, and converts weak scalars
// to the types of the loop (layout.dtype and layout.address then describe the converted value). A
// combination of dtypes, kinds, casting and dtype= that an earlier call used is found in a cache,
// without a lock or an allocation.
// Errors  GUF_E_NO_LOOP, GUF_E_CASTING, GUF_E_OVERFLOW, with NumPy's messages
guf_status choose(op::CallView &call, Choice *out, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_RESOLVE_H
