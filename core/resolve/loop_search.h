// SPDX-License-Identifier: Apache-2.0
// The search for a loop, with NumPy's algorithm and error messages. It runs once per combination of
// types; later calls find the result in the cache.
#ifndef GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H
#define GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H

#include "core/op/call_view.h"

namespace gufunc::resolve {

// The types of a call, as input of the search.
struct TypeQuery {
  const op::Ufunc *ufunc;
  const op::CallView *call;
  guf_dtype fixed[GUF_MAX_OPERANDS];  // the type that signature= or dtype= requests; 0: none
  guf_dtype have[GUF_MAX_OPERANDS];   // the dtype of the operand, or a weak scalar's default dtype
  bool weak[GUF_MAX_OPERANDS];
  bool any_fixed;
  bool any_input_fixed;
  bool weak_is_weak;  // the arrays' kind is at least the scalars', so scalars adopt it

  // Whether the search considers the type of the operand: it is an input that the loop reads.
  bool searches(int32_t i) const { return i < ufunc->nin() && ufunc->signature.reads(i); }
};

// Checks a type of dtype= or of entry `i` of signature=; 0 requests none.
// Errors  GUF_E_DTYPE <= not a dtype, or a datetime type with a unit
guf_status check_asked_type(guf_dtype type, int32_t i, guf_error *error);

// Errors  GUF_E_ARG, GUF_E_DTYPE <= invalid signature= or dtype=
guf_status make_query(const op::CallView &call, TypeQuery *out, guf_error *error);

// Whether the call compares integers. NumPy compares an int with any integer dtype exactly, so the
// int adopts no dtype and needs no cast.
bool compares_integers(const TypeQuery &query);

// The result of a search.
struct Found {
  uint32_t index;
  bool unchecked;  // the bool loop of a logical ufunc: inputs convert under any casting rule
};

// Errors  GUF_E_NO_LOOP <= no loop accepts the types; the text is NumPy's
guf_status search(const TypeQuery &query, const op::LoopList &list, Found *out, guf_error *error);

// Under `equiv`, a Python scalar beside other inputs must not change its type. NumPy allows it
// under `no`. With `unchecked_inputs`, only the inputs whose type signature= names are checked.
// Errors  GUF_E_CASTING <= names the operand at fault
guf_status check_weak(const TypeQuery &query, const op::Loop &loop, bool unchecked_inputs,
                      guf_error *error);

// The casts of inputs that check_casts checks. It always checks the casts of outputs.
enum class Inputs {
  kJudged,
  kOfAnyType,  // only the byte order
  kFree,
};

// Checks every cast that the loop needs, operand by operand. `no` also forbids a change of byte
// order.
// Errors  GUF_E_CASTING <= names the first operand at fault
guf_status check_casts(const TypeQuery &query, const op::Loop &loop, Inputs inputs,
                       guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_LOOP_SEARCH_H
