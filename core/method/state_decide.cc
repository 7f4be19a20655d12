// SPDX-License-Identifier: Apache-2.0
// Types, axes and shapes of a reduction with a user-defined accumulator.
#include "core/method/state_decide.h"

#include <algorithm>

#include "core/array/overlap.h"
#include "core/base/checked.h"
#include "core/call/placement.h"
#include "core/op/state_fold.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::method {
namespace {

using base::kNone;

guf_status check_result(const op::OperandView &result, int32_t index, guf_error *error) {
  const int32_t argument = result_argument(index);
  if (op::is_missing(result)) return GUF_OK;
  if ((result.flags & op::kScalar) != 0) {
    return base::fail(error, GUF_E_ARG, argument, kNone,
                      "return arrays must be of ArrayType; argument %d is written: expected an "
                      "array or a tensor, got a scalar",
                      argument);
  }
  if ((result.flags & op::kReadOnly) != 0) {
    return base::fail(error, GUF_E_READ_ONLY, argument, kNone,
                      "output array is read-only; argument %d", argument);
  }
  if (array::overlaps_itself(result.layout)) {
    return base::fail(error, GUF_E_OVERLAP, argument, kNone,
                      "argument %d is written, and elements of it share memory with one another",
                      argument);
  }
  return GUF_OK;
}

guf_status prepare_states(FoldView &view, const StateResults &results, guf_error *error) {
  op::CallView &call = view.call;
  call.noperands = 3;
  GUF_TRY(resolve::convert_to_default(&call.operand[kInput], kInput, error));
  call.operand[kLeft] = call.operand[kInput];
  if (call.has_where && call.where.layout.dtype != GUF_BOOL) {
    base::Text found;
    dtype::spell(call.where.layout.dtype, (call.where.flags & op::kSwapped) != 0, &found);
    return base::fail(error, GUF_E_CASTING, 3, kNone,
                      "Cannot cast array data from dtype('%s') to dtype('bool') according to the "
                      "rule 'safe'",
                      found.c_str());
  }
  for (int32_t k = 0; k < results.count; ++k) {
    GUF_TRY(check_result(results.result[k], k, error));
    call.operand[kOutput] = results.result[k];
    GUF_TRY(call::place(call, error));
  }
  return GUF_OK;
}

// Chooses the loop of a leaf, merge or finish ufunc as for an ordinary call. `dtype` is the
// requested dtype of the ufunc's first operand, or 0.
guf_status choose_for(op::Ufunc &part, const guf_dtype *types, guf_dtype dtype,
                      resolve::Choice *out, guf_error *error) {
  op::CallView call;
  guf_call_args args = {};
  args.struct_size = sizeof args;
  guf_dtype signature[GUF_MAX_OPERANDS] = {dtype};
  if (dtype != 0) {
    args.signature = signature;
    args.nsignature = part.noperands();
  }
  call.ufunc = &part;
  call.noperands = part.noperands();
  call.nseparate = 0;
  call.has_where = false;
  call.args = &args;
  call.casting = GUF_CASTING_UNSAFE;
  for (int32_t i = 0; i < call.noperands; ++i) {
    op::OperandView &operand = call.operand[i];
    const bool input = i < part.nin();
    operand.kind = input ? GUF_OPERAND_TENSOR : GUF_OPERAND_NONE;
    operand.flags = input ? 0U : static_cast<uint32_t>(op::kMissing);
    operand.layout = {input ? types[i] : 0, 0, nullptr, nullptr, 0};
  }
  return resolve::choose(call, out, error);
}

// Finds the loop with exactly these input dtypes. For datetime types, the list of loops contains
// only types without a unit; the loop for a unit is created when it is looked up.
const op::Loop *exact_loop(op::Ufunc &ufunc, const guf_dtype *inputs) {
  const guf_dtype *const end = inputs + ufunc.nin();
  const auto fits = [&](const op::Loop *loop) { return std::equal(inputs, end, &loop->types[0]); };
  for (const op::Loop *const loop : ufunc.loops().loops) {
    if (fits(loop)) return loop;
  }
  resolve::Choice choice;
  if (!std::any_of(inputs, end, dtype::is_time)) return nullptr;
  if (choose_for(ufunc, inputs, 0, &choice, nullptr) != GUF_OK) return nullptr;
  return fits(choice.loop) ? choice.loop : nullptr;
}

guf_status find_loop(op::Ufunc &ufunc, const guf_dtype *inputs, const char *part,
                     const op::Loop **out, guf_error *error) {
  *out = exact_loop(ufunc, inputs);
  if (*out != nullptr) return GUF_OK;
  base::Text types;
  for (int32_t i = 0; i < ufunc.nin(); ++i) {
    types.add("%s%s", i == 0 ? "" : ", ", dtype::name(inputs[i]));
  }
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "%s, the function to %s accumulators, has no loop for exactly %s",
                    ufunc.full_name.c_str(), part, types.c_str());
}

guf_status resolve_types(const FoldView &view, StateDecision *out, guf_error *error) {
  const op::Ufunc &leaf = *view.call.ufunc;
  const op::StateFold &fold = *leaf.state_fold();
  const guf_dtype types[] = {view.call.operand[kInput].layout.dtype, GUF_I64, GUF_BOOL};
  GUF_TRY(choose_for(*view.call.ufunc, types, view.dtype, &out->leaf, error));
  out->nstates = leaf.nout();
  std::copy_n(out->leaf.loop->types.begin() + leaf.nin(), out->nstates, out->state);
  guf_dtype both[GUF_MAX_OPERANDS];
  std::copy_n(out->state, out->nstates, both);
  std::copy_n(out->state, out->nstates, both + out->nstates);
  const op::Loop *merge = nullptr;
  GUF_TRY(find_loop(*fold.merge, both, "merge", &merge, error));
  if (!std::equal(out->state, out->state + out->nstates,
                  merge->types.begin() + fold.merge->nin())) {
    return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                      "%s returns accumulators of other types than it accepts",
                      fold.merge->full_name.c_str());
  }
  std::copy_n(out->state, out->nstates, out->result);
  if (!fold.finish) return GUF_OK;
  const op::Loop *finish = nullptr;
  GUF_TRY(find_loop(*fold.finish, out->state, "finish", &finish, error));
  std::copy_n(finish->types.begin() + fold.finish->nin(), fold.finish->nout(), out->result);
  return GUF_OK;
}

guf_status count_elements(const array::Layout &input, StateDecision *out, guf_error *error) {
  uint64_t count = 1;
  bool empty = false;
  bool fits = true;
  for (int32_t axis = 0; axis < input.ndim; ++axis) {
    if (!out->folded.test(static_cast<size_t>(axis))) continue;
    empty = empty || input.shape[axis] == 0;
    fits = fits && base::checked_mul(count, static_cast<uint64_t>(input.shape[axis]), &count) &&
           count <= INT64_MAX;
  }
  out->elements = empty ? 0 : static_cast<int64_t>(count);
  if (empty || fits) return GUF_OK;
  return base::fail(error, GUF_E_SHAPE, kInput, kNone,
                    "argument %d: too many elements along the reduced axes", kInput);
}

// Checks that there are elements to reduce. An accumulator of no elements exists only if the leaf
// ufunc declares GUF_FUNCTION_ACCEPTS_EMPTY.
guf_status check_elements(const FoldView &view, const StateDecision &decision, guf_error *error) {
  const op::Ufunc &leaf = *view.call.ufunc;
  const bool accepts_empty = (leaf.flags & GUF_FUNCTION_ACCEPTS_EMPTY) != 0;
  if (view.initial_kind == Initial::kGiven) {
    return base::fail(
        error, GUF_E_UNSUPPORTED, 4, kNone,
        "reduction operation '%s' has a user-defined accumulator and does not accept 'initial'",
        leaf.name.c_str());
  }
  if (view.call.has_where && leaf.nin() <= op::kLeafMask) {
    return base::fail(error, GUF_E_UNSUPPORTED, 3, kNone,
                      "reduction operation '%s' does not accept a where mask: its leaf function "
                      "has no input for the mask",
                      leaf.name.c_str());
  }
  if (view.call.has_where && !accepts_empty) {
    return base::fail(
        error, GUF_E_VALUE, kNone, kNone,
        "reduction operation '%s' does not have an identity, so it does not accept a where mask",
        leaf.name.c_str());
  }
  if (decision.elements != 0 || accepts_empty) return GUF_OK;
  if (leaf.nin() > op::kLeafFirst) {  // the ufunc numbers its elements, as argmax does
    return base::fail(error, GUF_E_VALUE, kNone, kNone, "attempt to get %s of an empty sequence",
                      leaf.name.c_str());
  }
  return base::fail(error, GUF_E_VALUE, kNone, kNone,
                    "zero-size array to reduction operation %s which has no identity",
                    leaf.name.c_str());
}

}  // namespace

bool find_fold_stride(const array::Layout &own, const array::Layout &input,
                      const array::AxisSet &folded, int64_t *out) {
  *out = 0;
  uint64_t count = 1;  // may wrap around if there are no elements
  bool straight = true;
  for (int32_t axis = input.ndim - 1; axis >= 0; --axis) {
    const int64_t extent = input.shape[axis];
    if (!folded.test(static_cast<size_t>(axis)) || extent == 1) continue;
    const int32_t k = axis - (input.ndim - own.ndim);
    const int64_t stride = k < 0 || own.shape[k] == 1 ? 0 : own.strides[k];
    if (count == 1) *out = stride;
    const uint64_t expected = static_cast<uint64_t>(*out) * count;
    straight = straight && static_cast<uint64_t>(stride) == expected;
    count *= static_cast<uint64_t>(extent);
  }
  return straight;
}

guf_status decide_states(FoldView &view, StateResults &results, StateDecision *out,
                         guf_error *error) {
  op::CallView &call = view.call;
  GUF_TRY(prepare_states(view, results, error));
  GUF_TRY(find_axes(view, &out->folded, error));
  GUF_TRY(resolve_types(view, out, error));
  const array::Layout &input = call.operand[kInput].layout;
  const auto nkept = input.ndim - static_cast<int32_t>(out->folded.count());
  if (nkept > kMaxKept) {
    return base::fail(error, GUF_E_SHAPE, kInput, kNone,
                      "a reduction with a user-defined accumulator keeps at most %d axes; got %d",
                      kMaxKept, nkept);
  }
  GUF_TRY(count_elements(input, out, error));
  out->axes = reduced_axes(input.ndim, out->folded, view.keepdims);
  for (int32_t k = 0; k < results.count; ++k) {
    op::OperandView &result = results.result[k];
    if (op::is_missing(result)) result.layout.dtype = out->result[k];
    call.operand[kOutput] = result;
    GUF_TRY(check_reduced(view, out->folded, out->axes, result_argument(k), error));
  }
  return check_elements(view, *out, error);
}

}  // namespace gufunc::method
