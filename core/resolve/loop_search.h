// SPDX-License-Identifier: Apache-2.0
// The search for a loop, with NumPy's algorithm and error messages. It runs once per combination of
// types; later calls with the same types use the cached result.
#ifndef GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H
#define GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H

#include "core/op/call_view.h"

namespace gufunc::resolve {

// The types of a call, which are the input of the search.
struct TypeQuery {
  const op::Ufunc *ufunc;
  const op::CallView *call;
  guf_dtype fixed[GUF_MAX_OPERANDS];  // the type that signature= or dtype= requests, or 0
  guf_dtype
      operand_dtype[GUF_MAX_OPERANDS];  // the operand's dtype; for a weak scalar, its default dtype
  bool weak[GUF_MAX_OPERANDS];
  bool any_fixed;
  bool any_input_fixed;
  // Whether weak scalars adopt a dtype. They do if the arrays' highest kind is at least the
  // scalars' highest kind.
  bool adopts_array_dtype;

  // Returns whether the search considers an operand, which must be an input that the loop reads.
  bool searches(int32_t i) const { return i < ufunc->nin() && ufunc->signature.reads(i); }
};

// Checks a type of dtype=, or entry `i` of signature=. A type of 0 means that none is requested.
// Errors  GUF_E_DTYPE <= not a dtype, or a datetime type with a unit
guf_status check_requested_type(guf_dtype type, int32_t i, guf_error *error);

// Collects the types of a call.
// Errors  GUF_E_ARG, GUF_E_DTYPE <= invalid signature= or dtype=
guf_status make_query(const op::CallView &call, TypeQuery *out, guf_error *error);

// Returns whether the call compares integers. NumPy compares an int with any integer dtype exactly,
// so the int adopts no dtype and needs no cast.
bool compares_integers(const TypeQuery &query);

// The result of a search.
struct Found {
  uint32_t index;
  bool unchecked;  // the loop is the bool loop of a logical ufunc, which accepts any inputs
};

// Finds the loop for the types of a call.
// Errors  GUF_E_NO_LOOP <= no loop accepts the types; NumPy's message
guf_status search(const TypeQuery &query, const op::LoopList &list, Found *out, guf_error *error);

// Checks that, under the casting rule `equiv`, a Python scalar that is combined with other inputs
// does not change its type. As in NumPy, the casting rule `no` permits the change. With
// `unchecked_inputs`, only the inputs whose types signature= names are checked.
// Errors  GUF_E_CASTING <= the type changes; the message names the operand
guf_status check_weak(const TypeQuery &query, const op::Loop &loop, bool unchecked_inputs,
                      guf_error *error);

// Selects what check_casts checks about the inputs: every cast, only the byte order, or nothing.
// The casts of outputs are always checked.
enum class InputCheck {
  kAllCasts,
  kByteOrderOnly,
  kNothing,
};

// Checks every cast that the loop needs, in the order of the operands. The casting rule `no` also
// forbids a change of the byte order.
// Errors  GUF_E_CASTING <= a forbidden cast; the message names the first such operand
guf_status check_casts(const TypeQuery &query, const op::Loop &loop, InputCheck input_check,
                       guf_error *error);

// The errors of calls for which no loop can be used, with NumPy's messages.
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

#endif  // GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H
