// SPDX-License-Identifier: Apache-2.0
// Which ufuncs fold, and in which type: NumPy's rules for reduce, accumulate and reduceat.
#ifndef GUFUNC_CORE_METHOD_FOLD_TYPES_H
#define GUFUNC_CORE_METHOD_FOLD_TYPES_H

#include "core/method/method.h"
#include "core/resolve/resolve.h"

namespace gufunc::method {

// `name` is the method's, for messages.
// Errors  GUF_E_VALUE <= the ufunc is not binary, has several outputs or core dimensions
guf_status check_folds(const op::Ufunc &ufunc, const char *name, guf_error *error);

// Gives the operands their final form (weak scalars become arrays' elements, place 0 is set),
// checks them, and decides where the method runs.
// Errors  as those of guf_call for operands
guf_status prepare(FoldView &view, guf_error *error);

// Finds the loop X, X -> X, for reduce also X, Y -> X, and gives a missing output its dtype.
// Errors  GUF_E_NO_LOOP, GUF_E_CASTING <= types (NumPy's texts)
guf_status resolve_fold(FoldView &view, const char *name, resolve::Choice *out, guf_error *error);

// A Python scalar that stands alone is what it looks like: an int64, a float64, a complex128.
// Errors  GUF_E_OVERFLOW
guf_status settle(op::OperandView *operand, int32_t index, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_FOLD_TYPES_H
