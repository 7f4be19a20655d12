// SPDX-License-Identifier: Apache-2.0
// Type resolution of methods. The result is also the first operand, so a method
// resolves like a call whose first input is the output. Without an output, a method resolves like a
// call with the method's input as both inputs.
#include "core/method/reduction_types.h"

#include <cstring>

#include "core/call/placement.h"
#include "core/resolve/loop_search.h"
#include "core/resolve/weak_scalar.h"
#include "core/validate/validate_call.h"

namespace gufunc::method {
namespace {

using base::kNone;

// Returns the wider dtype in which a sum or product is computed, or 0 if the dtype is not widened.
// NumPy computes sums and products of bool and small integers in 64 bits, unless the caller
// requests a dtype.
guf_dtype widened(const ReduceView &view) {
  const std::string &name = view.call.ufunc->full_name;
  const guf_dtype type = view.call.operand[kInput].layout.dtype;
  if (name != "add" && name != "multiply") return 0;
  if (type == GUF_BOOL) return GUF_I64;
  if (!dtype::is_integer(type) || dtype::itemsize(type) >= 8) return 0;
  return dtype::is_unsigned(type) ? GUF_U64 : GUF_I64;
}

// Reports that a comparison cannot reduce this input. A comparison can only reduce bool, because
// its result must be a valid first operand. As in NumPy, the message reports that no loop has the
// requested types or, if the output is bool, that no loop accepts bool as the dtype of the first
// operand.
guf_status fail_comparison(const ReduceView &view, guf_error *error) {
  resolve::TypeQuery query;
  GUF_TRY(resolve::make_query(view.call, &query, error));
  const op::OperandView &output = view.call.operand[kOutput];
  if (is_missing(output) || output.layout.dtype != GUF_BOOL) {
    return resolve::fail_signature(query, error);
  }
  query.operand_dtype[kLeft] = GUF_BOOL;
  query.fixed[kOutput] = 0;
  return resolve::fail_types(query, error);
}

guf_status fail_mixed(const ReduceView &view, const char *name, const op::Loop &loop,
                      guf_error *error) {
  base::Text types[3];
  for (int32_t i = 0; i < 3; ++i)
    dtype::spell(loop.types[static_cast<size_t>(i)], false, &types[i]);
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "the resolved dtypes are not compatible with %s.%s. Resolved (dtype('%s'), "
                    "dtype('%s'), dtype('%s'))",
                    view.call.ufunc->name.c_str(), name, types[0].c_str(), types[1].c_str(),
                    types[2].c_str());
}

// Checks casts that resolution skipped because `dtype` or the method's rule determined the types.
guf_status check_casts(const op::CallView &call, const op::Loop &loop, guf_error *error) {
  const op::OperandView &output = call.operand[kOutput];
  const guf_dtype input = call.operand[kInput].layout.dtype;
  const guf_dtype result = is_missing(output) ? loop.types[kOutput] : output.layout.dtype;
  const guf_dtype from[2] = {loop.types[kOutput], input};
  const guf_dtype to[2] = {result, loop.types[kInput]};
  for (int32_t i = 0; i < 2; ++i) {
    if (__builtin_expect(dtype::can_cast(from[i], to[i], GUF_CASTING_UNSAFE), 1)) continue;
    base::Text found, expected;
    dtype::spell(from[i], false, &found);
    dtype::spell(to[i], false, &expected);
    return base::fail(error, GUF_E_CASTING, i == 0 ? kOutput : kInput, kNone,
                      "Iterator operand %d dtype could not be cast from dtype('%s') to dtype('%s') "
                      "according to the rule 'unsafe'",
                      i, found.c_str(), expected.c_str());
  }
  return GUF_OK;
}

}  // namespace

guf_status check_reducible(const op::Ufunc &ufunc, const char *name, guf_error *error) {
  if (ufunc.signature.generalized) {
    return base::fail(error, GUF_E_VALUE, kNone, kNone,
                      "Reduction not defined on ufunc with signature");
  }
  if (ufunc.nin() != 2) {
    return base::fail(error, GUF_E_VALUE, kNone, kNone, "%s only supported for binary functions",
                      name);
  }
  if (ufunc.nout() != 1) {
    return base::fail(error, GUF_E_VALUE, kNone, kNone,
                      "%s only supported for functions returning a single value", name);
  }
  return GUF_OK;
}

guf_status prepare(ReduceView &view, guf_error *error) {
  op::CallView &call = view.call;
  call.noperands = 3;
  GUF_TRY(resolve::convert_to_default(&call.operand[kInput], kInput, error));
  const bool missing = is_missing(call.operand[kOutput]);
  call.operand[kLeft] = call.operand[missing ? kInput : kOutput];
  GUF_TRY(validate::check_operands(call, error));
  // As in NumPy, the dtype is checked before the axes and indices.
  GUF_TRY(resolve::check_requested_type(view.dtype, kLeft, error));
  return call::place(call, error);
}

guf_status resolve_reduction(ReduceView &view, const char *name, resolve::Choice *out,
                             guf_error *error) {
  op::CallView &call = view.call;
  const bool missing = is_missing(call.operand[kOutput]);
  guf_dtype type = view.dtype;
  if (type == 0 && missing) type = widened(view);
  if (call.ufunc->type_rule == op::TypeRule::kComparison && type == 0) {
    if (call.operand[kInput].layout.dtype != GUF_BOOL) return fail_comparison(view, error);
    type = GUF_BOOL;
  }
  // Logical ufuncs first compare non-bool elements with zero, so the reduction runs on bool.
  if (call.ufunc->type_rule == op::TypeRule::kLogical && type == 0) type = GUF_BOOL;
  const guf_dtype signature[3] = {type, 0, type};
  if (type != 0) {
    view.args.signature = signature;
    view.args.nsignature = 3;
  }
  const guf_status status = resolve::choose(call, out, error);
  view.args.signature = nullptr;
  view.args.nsignature = 0;
  GUF_TRY(status);
  const op::Loop &loop = *out->loop;
  if (loop.types[kLeft] != loop.types[kOutput]) return fail_mixed(view, name, loop, error);
  // As in NumPy, a loop (X, Y) -> X supports reduce, but not accumulate or reduceat.
  if (loop.types[kInput] != loop.types[kOutput] && std::strcmp(name, "reduce") != 0)
    return fail_mixed(view, name, loop, error);
  GUF_TRY(check_casts(call, loop, error));
  // An output datetime without a unit cannot store values with a unit.
  if (missing) return GUF_OK;
  return dtype::check_cast(loop.types[kOutput], call.operand[kOutput].layout.dtype, error);
}

}  // namespace gufunc::method
