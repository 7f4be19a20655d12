// SPDX-License-Identifier: Apache-2.0
// Types to loop: NumPy's search by safe casting, then the casting rule for each operand.
#ifndef GUFUNC_CORE_RESOLVE_RESOLVE_H
#define GUFUNC_CORE_RESOLVE_RESOLVE_H

#include "core/op/call_view.h"

namespace gufunc::resolve {

// What was decided. `loop` lives as long as the ufunc.
struct Choice {
  const op::Loop *loop;
  uint32_t index;      // into the ufunc's loops
  uint32_t cast_mask;  // bit i: operand i has another dtype than the loop's
};

// Finds the loop, checks every cast, gives missing outputs their dtype, and turns weak scalars
// into values of the loop's dtype (layout.dtype and address then describe that value).
// A call whose (dtypes, kinds, casting, dtype=, signature=) was met before reads the cache: no
// lock, no allocation.
// Errors  GUF_E_NO_LOOP, GUF_E_CASTING, GUF_E_OVERFLOW, with NumPy's texts
guf_status choose(op::CallView &call, Choice *out, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_RESOLVE_H
