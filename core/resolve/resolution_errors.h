// SPDX-License-Identifier: Apache-2.0
// The errors of calls for which no loop can be used, with NumPy's messages.
#ifndef GUFUNC_CORE_RESOLVE_RESOLUTION_ERRORS_H
#define GUFUNC_CORE_RESOLVE_RESOLUTION_ERRORS_H

#include "core/resolve/loop_search.h"

namespace gufunc::resolve {

// fail_weak and fail_cast return GUF_E_CASTING; all other functions return GUF_E_NO_LOOP. The
// comment of a function states the condition that the function reports.

// No loop accepts the inputs by safe casts.
guf_status fail_inputs(const TypeQuery &query, guf_error *error);
// No loop has the types that signature= or dtype= requests.
guf_status fail_signature(const TypeQuery &query, guf_error *error);
// No loop has exactly these types.
guf_status fail_types(const TypeQuery &query, guf_error *error);
// Like fail_types, for calls that request types: no loop has `type`, to which all operands
// resolved.
guf_status fail_type(const TypeQuery &query, guf_dtype type, guf_error *error);
// The types of the operands do not match in a binary operator on datetime types.
guf_status fail_operands(const TypeQuery &query, guf_error *error);
// The two inputs have no common type, and dtype= requests a datetime type.
guf_status fail_promotion(const TypeQuery &query, guf_error *error);
guf_status fail_isnat(const TypeQuery &query, guf_error *error);
// The operator is not defined for bool (subtraction and negation).
guf_status fail_bool(op::TypeRule rule, guf_error *error);
// The casting rule forbids the conversion that operand `i` needs.
guf_status fail_weak(const TypeQuery &query, int32_t i, guf_dtype to, guf_error *error);
guf_status fail_cast(const TypeQuery &query, int32_t i, guf_dtype from, guf_dtype to, bool output,
                     guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_RESOLUTION_ERRORS_H
