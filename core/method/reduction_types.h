// SPDX-License-Identifier: Apache-2.0
// NumPy's rules for the ufuncs that support reductions, and for the dtypes of a reduction.
#ifndef GUFUNC_CORE_METHOD_REDUCTION_TYPES_H
#define GUFUNC_CORE_METHOD_REDUCTION_TYPES_H

#include "core/method/method.h"
#include "core/resolve/resolve.h"

namespace gufunc::method {

// Checks that a ufunc supports reduce, accumulate and reduceat. `name` is the method, for messages.
// Errors  GUF_E_VALUE <= the ufunc is not binary, or has several outputs or core dimensions
guf_status check_reducible(const op::Ufunc &ufunc, const char *name, guf_error *error);

// Prepares the operands: converts a weak input to its default dtype, sets operand 0, checks all
// operands, and chooses the device.
// Errors  as guf_call for its operands
guf_status prepare(ReduceView &view, guf_error *error);

// Finds a loop (X, X) -> X, or for reduce also (X, Y) -> X. Sets the dtype of a missing output.
// Errors  GUF_E_NO_LOOP, GUF_E_CASTING <= the types do not match; NumPy's messages
guf_status resolve_reduction(ReduceView &view, const char *name, resolve::Choice *out,
                             guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_REDUCTION_TYPES_H
