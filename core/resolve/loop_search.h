// SPDX-License-Identifier: Apache-2.0
// The slow way to a loop, taken once per combination of types: NumPy's search and NumPy's refusals.
#ifndef GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H
#define GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H

#include "core/op/call_view.h"

namespace gufunc::resolve {

// A call's types as the search sees them.
struct TypeQuery {
  const op::Ufunc *ufunc;
  const op::CallView *call;
  guf_dtype fixed[GUF_MAX_OPERANDS];  // by signature= or dtype=; 0: free
  guf_dtype have[GUF_MAX_OPERANDS];   // of the operands; a weak scalar's default type
  bool weak[GUF_MAX_OPERANDS];
  bool any_fixed;
  bool any_input_fixed;
  bool weak_is_weak;  // some array is of no lower kind than the scalars, so they take its type

  // Whether the loop reads the operand (and so the search looks at its type).
  bool searches(int32_t i) const { return i < ufunc->nin() && ufunc->signature.reads(i); }
};

// A type of dtype= or of signature='s place `i`; 0 asks for none.
// Errors  GUF_E_DTYPE <= no type, or one with a unit
guf_status check_asked_type(guf_dtype type, int32_t i, guf_error *error);

// Errors  GUF_E_ARG, GUF_E_DTYPE <= signature= and dtype=
guf_status make_query(const op::CallView &call, TypeQuery *out, guf_error *error);

// Ints compare with any integer type exactly, so they take no type and need no cast.
bool compares_integers(const TypeQuery &query);

// What the search found.
struct Found {
  uint32_t index;
  bool unchecked;  // the logical functions' bool loop: zero or not, whatever the casting rule
};

// Errors  GUF_E_NO_LOOP <= with NumPy's text for the case
guf_status search(const TypeQuery &query, const op::LoopList &list, Found *out, guf_error *error);

// `equiv` lets no Python scalar beside other inputs take another type; NumPy's `no` does.
// `unchecked_inputs`: only those whose type signature= names are looked at.
// Errors  GUF_E_CASTING <= with the operand at fault
guf_status check_weak(const TypeQuery &query, const op::Loop &loop, bool unchecked_inputs,
                      guf_error *error);

// Which casts of inputs are judged; those of outputs always are.
enum class Inputs {
  kJudged,
  kOfAnyType,  // their byte order only
  kFree,
};

// Judges every cast that the loop needs, operand by operand; `no` also forbids a change of byte
// order.  Errors  GUF_E_CASTING <= with the first operand at fault
guf_status check_casts(const TypeQuery &query, const op::Loop &loop, Inputs inputs,
                       guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H
