// SPDX-License-Identifier: Apache-2.0
// How a call without a loop is told so, in NumPy's words.
#ifndef GUFUNC_CORE_RESOLVE_REFUSAL_H
#define GUFUNC_CORE_RESOLVE_REFUSAL_H

#include "core/resolve/loop_search.h"

namespace gufunc::resolve {

// All give GUF_E_NO_LOOP but refuse_cast, which gives GUF_E_CASTING.

// No loop takes the inputs safely.
guf_status refuse_inputs(const TypeQuery &query, guf_error *error);
// None has what signature= or dtype= asks for.
guf_status refuse_signature(const TypeQuery &query, guf_error *error);
// None is made of exactly these types.
guf_status refuse_types(const TypeQuery &query, guf_error *error);
// The same where a loop was asked for that the settled type of all operands does not have.
guf_status refuse_settled(const TypeQuery &query, guf_dtype type, guf_error *error);
// NumPy's binary operators on times.
guf_status refuse_operands(const TypeQuery &query, guf_error *error);
// No common type of two inputs, where dtype= asks for one of times.
guf_status refuse_promotion(const TypeQuery &query, guf_error *error);
guf_status refuse_isnat(const TypeQuery &query, guf_error *error);
// Bool minus bool, and minus bool.
guf_status refuse_bool(op::TypeRule rule, guf_error *error);
// The casting rule forbids what operand `i` needs.
guf_status refuse_weak(const TypeQuery &query, int32_t i, guf_dtype to, guf_error *error);
guf_status refuse_cast(const TypeQuery &query, int32_t i, guf_dtype from, guf_dtype to, bool output,
                       guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_REFUSAL_H
