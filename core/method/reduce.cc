// SPDX-License-Identifier: Apache-2.0
// The method reduce. It resolves the types, the axes, the initial value and the output, and then
// launches.
#include <algorithm>

#include "core/method/decide.h"
#include "core/method/geometry.h"
#include "core/method/initial_value.h"
#include "core/method/reduction_types.h"

namespace gufunc::method {
namespace {

using base::kNone;

// Checks that the first element can be cast to the output's dtype, because the reduction starts
// with this element.
guf_status check_first(const op::CallView &call, guf_error *error) {
  const guf_dtype from = call.operand[kInput].layout.dtype;
  const guf_dtype to = call.operand[kOutput].layout.dtype;
  if (dtype::can_cast(from, to, GUF_CASTING_UNSAFE)) return GUF_OK;
  base::Text what;
  what.add("the first element begins the result of reduction operation '%s' without 'initial'",
           call.ufunc->name.c_str());
  return fail_initial_cast(from, to, kInput, what.c_str(), error);
}

// Checks that a reduction without an initial value has elements and no mask.
guf_status check_initial_value(const ReduceView &view, const ReduceDecision &decision,
                               guf_error *error) {
  if (decision.has_initial_value) return GUF_OK;
  const op::CallView &call = view.call;
  const char *const name = call.ufunc->name.c_str();
  if (call.has_where) {
    return base::fail(error, GUF_E_VALUE, kNone, kNone,
                      "reduction operation '%s' does not have an identity, so to use a where mask "
                      "one has to specify 'initial'",
                      name);
  }
  const array::Layout &input = call.operand[kInput].layout;
  bool no_elements = false;  // whether a reduced axis has extent 0
  for (int32_t axis = 0; axis < input.ndim; ++axis) {
    no_elements |= input.shape[axis] == 0 && decision.reduced.test(static_cast<size_t>(axis));
  }
  if (!no_elements) return check_first(call, error);
  return base::fail(error, GUF_E_VALUE, kNone, kNone,
                    "zero-size array to reduction operation %s which has no identity", name);
}

int64_t mask_step(const op::CallView &call, int32_t ndim, int32_t axis) {
  if (!call.has_where) return 0;
  const array::Layout &mask = call.where.layout;
  const int32_t own = axis - (ndim - mask.ndim);
  return own < 0 || mask.shape[own] == 1 ? 0 : mask.strides[own];
}

// Adds the dimensions of a reduction whose result has elements. If there are no elements to reduce,
// neither the input nor the mask is read, and their strides may be arbitrary. The reduced axes are
// then replaced by one axis of extent 0.
void add_axes(const op::CallView &call, const ReduceDecision &decision, Geometry *out) {
  const array::Layout &input = call.operand[kInput].layout;
  const array::Layout &output = call.operand[kOutput].layout;
  const bool empty = is_empty(input);
  for (int32_t axis = input.ndim - 1; axis >= 0; --axis) {
    const bool reduced = decision.reduced.test(static_cast<size_t>(axis));
    if (reduced && empty) continue;
    Axis steps = {input.shape[axis], 0, 0, 0};
    if (!empty) {
      steps.input_step = input.strides[axis];
      steps.mask_step = mask_step(call, input.ndim, axis);
    }
    if (reduced) {
      out->reduce(steps);
    } else {
      steps.output_step = output.strides[decision.axes.of_input[axis]];
      out->keep(steps);
    }
  }
  if (empty) out->reduce({0, 0, 0, 0});
}

void make_geometry(const ReduceView &view, const ReduceDecision &decision, Geometry *out) {
  const op::CallView &call = view.call;
  begin(GUF_METHOD_REDUCE, call, *decision.choice.loop, &call.operand[kInput],
        call.operand[kOutput], out);
  if (decision.has_initial_value) out->block.flags |= GUF_METHOD_INITIAL;
  if (dtype::is_structured(out->block.loop_dtype)) {
    out->structured_initial = decision.has_initial_value ? decision.initial_value : nullptr;
  } else {
    std::copy_n(decision.initial_value, sizeof out->block.initial, out->block.initial);
  }
  add_axes(call, decision, out);
  merge_folds(out);
}

guf_status launch(ReduceView &view, const ReduceDecision &decision, guf_error *error) {
  op::CallView &call = view.call;
  const op::Loop &loop = *decision.choice.loop;
  MethodKernels kernels = {};
  GUF_TRY(find_kernels(call, loop, &kernels, error));
  if (is_empty(call.operand[kOutput].layout)) return GUF_OK;
  Geometry geometry;
  make_geometry(view, decision, &geometry);
  return run(call, loop, kernels, &geometry, error);
}

// Writes the extents of the result, indexed by axis of the input. A reduced axis has extent 1.
void find_extents(const op::CallView &call, const ReduceDecision &decision, int64_t *out) {
  const array::Layout &input = call.operand[kInput].layout;
  for (int32_t k = 0; k < input.ndim; ++k) {
    out[k] = decision.reduced.test(static_cast<size_t>(k)) ? 1 : input.shape[k];
  }
}

// Launches after allocating a missing output and making the copies that the call needs.
[[gnu::noinline]] guf_status launch_with_arrays(ReduceView &view, ReduceDecision *decision,
                                                bool copy_input, bool copy_mask,
                                                guf_operand *output, guf_error *error) {
  op::CallView &call = view.call;
  backend::ErrorRecord record(error);
  call::Temporaries arrays(call);
  GUF_TRY(arrays.open(record.get()));
  if (op::is_missing(call.operand[kOutput])) {
    int64_t extents[GUF_MAX_NDIM];
    find_extents(call, *decision, extents);
    GUF_TRY(allocate_result(view, decision->axes, extents, kNoAxis, 0, &arrays, record.get()));
  }
  const bool copies = exceeds_reduced_axis_limit(call.operand[kInput].layout, decision->reduced);
  if (copy_input && !copies)
    GUF_TRY(arrays.replace_by_copy(&call.operand[kInput], 0, record.get()));
  if (copy_mask && !copies) GUF_TRY(arrays.replace_by_copy(&call.where, 0, record.get()));
  GUF_TRY(transfer_reduction(call, &arrays, record.get()));
  if (copies) GUF_TRY(make_reduced_axes_contiguous(call, decision->reduced, &arrays, record.get()));
  const guf_status status =
      finish_fold(launch(view, *decision, record.get()), &arrays, record.get());
  if (status == GUF_OK) arrays.publish(output);
  return status;
}

}  // namespace

guf_status decide_reduce(ReduceView &view, Elements elements, ReduceDecision *out,
                         guf_error *error) {
  op::CallView &call = view.call;
  GUF_TRY(check_reducible(*call.ufunc, "reduce", error));
  GUF_TRY(prepare(view, error));
  GUF_TRY(find_axes(view, &out->reduced, error));
  GUF_TRY(resolve_reduction(view, "reduce", &out->choice, error));
  GUF_TRY(check_order(*call.ufunc, out->reduced, error));
  find_reduced_axes(call.operand[kInput].layout.ndim, out->reduced, view.keepdims, &out->axes);
  GUF_TRY(check_reduced(view, out->reduced, out->axes, kOutput, error));
  const guf_dtype type = out->choice.loop->types[kLeft];
  GUF_TRY(
      find_initial_value(view, type, elements, out->initial_value, &out->has_initial_value, error));
  return check_initial_value(view, *out, error);
}

guf_status reduce(ReduceView &view, guf_operand *output, guf_error *error) {
  op::CallView &call = view.call;
  ReduceDecision decision;
  GUF_TRY(decide_reduce(view, Elements::kRead, &decision, error));
  const bool copy_input = overlaps_output(call, call.operand[kInput]) ||
                          exceeds_reduced_axis_limit(call.operand[kInput].layout, decision.reduced);
  const bool copy_mask = call.has_where && overlaps_output(call, call.where);
  const bool missing = op::is_missing(call.operand[kOutput]);
  if (!copy_input && !copy_mask && !missing && !needs_device_scalars(call))
    return launch(view, decision, error);
  return launch_with_arrays(view, &decision, copy_input, copy_mask, output, error);
}

guf_status describe_reduce(ReduceView &view, const ReduceDecision &decision, std::string *out,
                           guf_error *error) {
  op::CallView &call = view.call;
  const op::Loop &loop = *decision.choice.loop;
  ResultBuffer result;
  ContiguousBuffer contiguous;
  if (op::is_missing(call.operand[kOutput])) {
    int64_t extents[GUF_MAX_NDIM];
    find_extents(call, decision, extents);
    GUF_TRY(lay_out_result(view, decision.axes, extents, kNoAxis, &result, error));
  }
  if (exceeds_reduced_axis_limit(call.operand[kInput].layout, decision.reduced))
    set_contiguous_layout(call, decision.reduced, &contiguous);
  MethodKernels kernels = {};
  GUF_TRY(find_kernels(call, loop, &kernels, error));
  if (is_empty(call.operand[kOutput].layout)) return describe_nothing(out);
  Geometry geometry;
  make_geometry(view, decision, &geometry);
  return describe(call, loop, kernels, &geometry, out, error);
}

}  // namespace gufunc::method
