// SPDX-License-Identifier: Apache-2.0
// Reports the types and shapes of a method. The method's decisions are made, but nothing is
// launched.
#include <algorithm>

#include "core/call/pipeline.h"
#include "core/method/decide.h"

namespace gufunc::method {
namespace {

void describe_types(const op::CallView &call, const resolve::Choice &choice, guf_resolution *out) {
  out->loop = choice.index;
  out->noperands = call.noperands;
  for (int32_t i = 0; i < call.noperands; ++i) {
    out->loop_dtypes[i] = choice.loop->types[static_cast<size_t>(i)];
    out->dtypes[i] = call.operand[i].layout.dtype;
  }
}

void describe_shape(const array::Layout &layout, guf_resolution *out) {
  out->output_ndims[0] = layout.ndim;
  std::copy_n(layout.shape, layout.ndim, out->output_shapes[0]);
}

// Operand 0 is also the result. A missing output has no dtype until the loop is chosen.
void describe_fold_types(const op::CallView &call, const resolve::Choice &choice,
                         guf_resolution *out) {
  describe_types(call, choice, out);
  out->dtypes[kLeft] = call.operand[kOutput].layout.dtype;
}

}  // namespace

void describe_accumulate_result(const op::CallView &call, const AccumulateDecision &decision,
                                guf_resolution *out) {
  describe_fold_types(call, decision.choice, out);
  const bool missing = op::is_missing(call.operand[kOutput]);
  describe_shape(call.operand[missing ? kInput : kOutput].layout, out);
  out->output_shapes[0][decision.axis] = decision.length;
}

void describe_reduce_result(const op::CallView &call, const ReduceDecision &decision,
                            guf_resolution *out) {
  describe_fold_types(call, decision.choice, out);
  describe_result(call.operand[kInput].layout, decision.folded, decision.axes, 0, out);
}

void describe_result(const array::Layout &input, const array::AxisSet &folded,
                     const ResultAxes &axes, int32_t index, guf_resolution *out) {
  out->output_ndims[index] = axes.ndim;
  for (int32_t k = 0; k < input.ndim; ++k) {
    const int32_t axis = axes.of_input[k];
    if (axis == kNoAxis) continue;
    out->output_shapes[index][axis] = folded.test(static_cast<size_t>(k)) ? 1 : input.shape[k];
  }
}

guf_status resolve_reduce(FoldView &view, guf_resolution *out, guf_error *error) {
  ReduceDecision decision;
  GUF_TRY(decide_reduce(view, Elements::kNotRead, &decision, error));
  describe_reduce_result(view.call, decision, out);
  return GUF_OK;
}

guf_status resolve_accumulate(FoldView &view, guf_resolution *out, guf_error *error) {
  AccumulateDecision decision;
  GUF_TRY(decide_accumulate(view, &decision, error));
  describe_accumulate_result(view.call, decision, out);
  return GUF_OK;
}

guf_status resolve_reduceat(FoldView &view, guf_resolution *out, guf_error *error) {
  AccumulateDecision decision;
  std::vector<int64_t> buffer;
  GUF_TRY(decide_reduceat(view, Elements::kNotRead, &buffer, &decision, error));
  describe_accumulate_result(view.call, decision, out);
  return GUF_OK;
}

guf_status resolve_outer(op::CallView &call, guf_resolution *out, guf_error *error) {
  OuterBuffer buffer;
  GUF_TRY(spread_outer(call, &buffer, error));
  return call::resolve(call, out, error);
}

guf_status resolve_at(AtView &view, guf_resolution *out, guf_error *error) {
  resolve::Choice choice;
  IndexOffsets offsets;
  GUF_TRY(decide_at(view, Elements::kNotRead, &choice, &offsets, error));
  describe_types(view.call, choice, out);
  describe_shape(view.array.layout, out);
  return GUF_OK;
}

}  // namespace gufunc::method
