// SPDX-License-Identifier: Apache-2.0
// Reports the types and shapes of a method, or describes the method as text: the loop and its
// kernel, the casts, the shapes, and the order of the reduction (docs/reductions.md). The functions
// make the method's decisions, but launch nothing.
#include <algorithm>

#include "core/array/overlap.h"
#include "core/backend/backend.h"
#include "core/call/pipeline.h"
#include "core/call/placement.h"
#include "core/method/decide.h"
#include "core/method/geometry.h"
#include "core/plan/plan_text.h"
#include "core/plan/prepared_plan.h"

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

// Reports the output's dtype for operand 0 too, because operand 0 is also the result. If the caller
// passed no output, operand 0 of `call` is a copy of the input.
void describe_reduction_types(const op::CallView &call, const resolve::Choice &choice,
                              guf_resolution *out) {
  describe_types(call, choice, out);
  out->dtypes[kLeft] = call.operand[kOutput].layout.dtype;
}

using plan::describe_list;

constexpr const char *kOtherwise = "dtype=, or the rule for this method, requests other types";

// Writes the first line and the rejected loops. Loads the kernel, as the method itself would.
guf_status begin_text(const op::CallView &call, const char *method, const resolve::Choice &choice,
                      std::string *out, guf_error *error) {
  void *kernel = nullptr;
  GUF_TRY(backend::load_kernel(*call.ufunc, *choice.loop, *call.device, &kernel, error));
  *out = call.ufunc->full_name + "." + method + " on " + call.device->spec + ": " +
         plan::describe_loop(call, choice) + ", casting " + dtype::casting_name(call.casting) +
         "\n" + call::describe_auto(call);
  *out += backend::describe_kernel(*call.ufunc, *choice.loop, *call.device);
  *out += plan::describe_refused(call, choice, kOtherwise, true);
  return GUF_OK;
}

// Appends the description of an operand. For an output that is not allocated yet, describes the
// shape but no strides.
void add_operand(const op::CallView &call, const resolve::Choice &choice, int32_t i,
                 const guf_resolution &resolution, std::string *out) {
  const guf_dtype loop = choice.loop->types[static_cast<size_t>(i)];
  if (!op::is_missing(call.operand[i])) {
    *out += plan::describe_operand(call, i, loop);
    return;
  }
  *out += "argument " + std::to_string(i) + ": out, " + dtype::name(resolution.dtypes[i]) +
          ", shape " + describe_list(resolution.output_shapes[0], resolution.output_ndims[0]) +
          ", to allocate\n";
}

// Describes the order in which consecutive elements are reduced to one result.
guf_status describe_order(const op::CallView &call, const resolve::Choice &choice, int32_t method,
                          std::string *out, guf_error *error) {
  void *entry = nullptr;
  GUF_TRY(backend::load_fold(*call.ufunc, *choice.loop, *call.device, &entry, error));
  const uint32_t flags = method_flags(method, call, *choice.loop);
  if ((flags & GUF_METHOD_MIXED) != 0) {
    *out = "from the left in C order over all of them, as the loop's types differ";
  } else if ((flags & GUF_METHOD_EXACT) != 0) {
    *out = "in any order, as the order does not change an integer result";
  } else if ((flags & GUF_METHOD_TREE) == 0) {
    *out = "from the left, as the function is not both associative and commutative";
  } else if (method == GUF_METHOD_ACCUMULATE) {
    *out = "tiles of " + std::to_string(GUF_SCAN_TILE) + " from the left, then their totals";
  } else {
    *out = "as a tree: base blocks of " + std::to_string(GUF_LEAF_SIZE) + ", combined in pairs";
  }
  if ((flags & GUF_METHOD_TREE) != 0) {
    *out += entry != nullptr ? ", with the loop's fold entry" : ", with the elementwise loop";
  }
  *out += "\n";
  return GUF_OK;
}

void describe_initial(const ReduceView &view, const ReduceDecision &decision, std::string *out) {
  static constexpr const char *kIdentities[] = {"", "", "0", "1", "-1", "-inf"};
  *out += "initial: ";
  if (!decision.has_initial_value) {
    *out += "none, starts with the first element\n";
  } else if (view.initial_kind == Initial::kGiven) {
    *out += "given\n";
  } else {
    *out += std::string("the identity ") + kIdentities[view.call.ufunc->identity] + "\n";
  }
}

void describe_copies(const op::CallView &call, bool many, std::string *out) {
  if (many) *out += "copied first: argument 1, as more than 8 axes are reduced\n";
  if (!many && overlaps_output(call, call.operand[kInput]))
    *out += "copied first: argument 1, which overlaps the output\n";
  if (!many && call.has_where && overlaps_output(call, call.where))
    *out += "copied first: the mask, which overlaps the output\n";
}

void describe_axes(const array::Layout &input, const array::AxisSet &reduced, std::string *out) {
  *out += "reduces";
  const char *before = " axis ";
  for (int32_t axis = input.ndim - 1; axis >= 0; --axis) {
    if (!reduced.test(static_cast<size_t>(axis))) continue;
    *out += before + std::to_string(axis) + " of " + std::to_string(input.shape[axis]);
    before = ", then axis ";
  }
  *out += reduced.none() ? " no axis\n" : "\n";
}

guf_status explain_decision(ReduceView &view, const AccumulateDecision &decision,
                            const guf_resolution &resolution, std::string *out, guf_error *error) {
  const op::CallView &call = view.call;
  GUF_TRY(begin_text(call, decision.name, decision.choice, out, error));
  for (const int32_t i : {kInput, kOutput}) add_operand(call, decision.choice, i, resolution, out);
  array::AxisSet reduced;
  reduced.set(static_cast<size_t>(decision.axis));
  describe_axes(call.operand[kInput].layout, reduced, out);
  if (decision.method == GUF_METHOD_REDUCEAT)
    *out += std::to_string(decision.length) + " slices, each reduced separately\n";
  std::string order;
  GUF_TRY(describe_order(call, decision.choice, decision.method, &order, error));
  *out += "order: " + order;
  const bool same = decision.method == GUF_METHOD_ACCUMULATE &&
                    array::same_view(call.operand[kInput].layout, call.operand[kOutput].layout);
  if (!same) describe_copies(call, false, out);
  return describe_accumulate(view, decision, out, error);
}

}  // namespace

void describe_accumulate_result(const op::CallView &call, const AccumulateDecision &decision,
                                guf_resolution *out) {
  describe_reduction_types(call, decision.choice, out);
  const bool missing = op::is_missing(call.operand[kOutput]);
  describe_shape(call.operand[missing ? kInput : kOutput].layout, out);
  out->output_shapes[0][decision.axis] = decision.length;
}

void describe_reduce_result(const op::CallView &call, const ReduceDecision &decision,
                            guf_resolution *out) {
  describe_reduction_types(call, decision.choice, out);
  describe_result(call.operand[kInput].layout, decision.reduced, decision.axes, 0, out);
}

void describe_result(const array::Layout &input, const array::AxisSet &reduced,
                     const ResultAxes &axes, int32_t index, guf_resolution *out) {
  out->output_ndims[index] = axes.ndim;
  for (int32_t k = 0; k < input.ndim; ++k) {
    const int32_t axis = axes.of_input[k];
    if (axis == kNoAxis) continue;
    out->output_shapes[index][axis] = reduced.test(static_cast<size_t>(k)) ? 1 : input.shape[k];
  }
}

guf_status resolve_reduce(ReduceView &view, guf_resolution *out, guf_error *error) {
  ReduceDecision decision;
  GUF_TRY(decide_reduce(view, Elements::kNotRead, &decision, error));
  describe_reduce_result(view.call, decision, out);
  return GUF_OK;
}

guf_status resolve_accumulate(ReduceView &view, guf_resolution *out, guf_error *error) {
  AccumulateDecision decision;
  GUF_TRY(decide_accumulate(view, &decision, error));
  describe_accumulate_result(view.call, decision, out);
  return GUF_OK;
}

guf_status resolve_reduceat(ReduceView &view, guf_resolution *out, guf_error *error) {
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

guf_status explain_reduce(ReduceView &view, std::string *out, guf_error *error) {
  ReduceDecision decision;
  guf_resolution resolution = {};
  GUF_TRY(decide_reduce(view, Elements::kNotRead, &decision, error));
  describe_reduce_result(view.call, decision, &resolution);
  const op::CallView &call = view.call;
  GUF_TRY(begin_text(call, "reduce", decision.choice, out, error));
  for (const int32_t i : {kInput, kOutput}) add_operand(call, decision.choice, i, resolution, out);
  if (call.has_where)
    *out += "where: shape " + describe_list(call.where.layout.shape, call.where.layout.ndim) + "\n";
  const array::Layout &input = call.operand[kInput].layout;
  describe_axes(input, decision.reduced, out);
  std::string order;
  GUF_TRY(describe_order(call, decision.choice, GUF_METHOD_REDUCE, &order, error));
  *out += "order: " + order;
  describe_initial(view, decision, out);
  describe_copies(call, exceeds_reduced_axis_limit(input, decision.reduced), out);
  return describe_reduce(view, decision, out, error);
}

guf_status explain_accumulate(ReduceView &view, std::string *out, guf_error *error) {
  AccumulateDecision decision;
  guf_resolution resolution = {};
  GUF_TRY(decide_accumulate(view, &decision, error));
  describe_accumulate_result(view.call, decision, &resolution);
  return explain_decision(view, decision, resolution, out, error);
}

guf_status explain_reduceat(ReduceView &view, std::string *out, guf_error *error) {
  AccumulateDecision decision;
  guf_resolution resolution = {};
  std::vector<int64_t> buffer;
  GUF_TRY(decide_reduceat(view, Elements::kNotRead, &buffer, &decision, error));
  describe_accumulate_result(view.call, decision, &resolution);
  return explain_decision(view, decision, resolution, out, error);
}

// Writes the text of an ordinary call, with the name of the method inserted.
guf_status explain_outer(op::CallView &call, std::string *out, guf_error *error) {
  OuterBuffer buffer;
  GUF_TRY(spread_outer(call, &buffer, error));
  GUF_TRY(plan::PreparedPlan::explain(call, out, error));
  out->insert(call.ufunc->full_name.size(), ".outer");
  *out +=
      "an elementwise call: the first input gets one trailing axis of extent 1 per axis of the "
      "second\n";
  return GUF_OK;
}

guf_status explain_at(AtView &view, std::string *out, guf_error *error) {
  resolve::Choice choice;
  IndexOffsets offsets;
  GUF_TRY(decide_at(view, Elements::kNotRead, &choice, &offsets, error));
  const op::CallView &call = view.call;
  GUF_TRY(begin_text(call, "at", choice, out, error));
  const guf_resolution none = {};
  for (int32_t i = 0; i < call.ufunc->nin(); ++i) add_operand(call, choice, i, none, out);
  *out += "indices of shape " + describe_list(offsets.shape, offsets.ndim) + " for the first " +
          std::to_string(view.nindices) + " axes\n";
  *out += "order: index by index, unbuffered";
  *out += is_uniform(call, *choice.loop) ? "\n" : ", one launch each, as the loop's types differ\n";
  if (view.has_operand && overlaps_output(call, call.operand[kInput]))
    *out += "copied first: argument 1, which overlaps the array\n";
  return describe_at(view, choice, offsets, out, error);
}

}  // namespace gufunc::method
