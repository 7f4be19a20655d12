// SPDX-License-Identifier: Apache-2.0
// accumulate and reduceat. Both methods keep the axis that they reduce along. In the result, the
// extent of this axis is the input's extent for accumulate, and the number of indices for reduceat.
#include <algorithm>
#include <vector>

#include "core/array/overlap.h"
#include "core/method/decide.h"
#include "core/method/geometry.h"
#include "core/method/indices.h"
#include "core/method/reduction_types.h"

namespace gufunc::method {
namespace {

using base::kNone;

void make_geometry(const op::CallView &call, const AccumulateDecision &decision, Geometry *out) {
  const op::OperandView &input = call.operand[kInput];
  const op::OperandView &output = call.operand[kOutput];
  Geometry &geometry = *out;
  begin(decision.method, call, *decision.choice.loop, &input, output, &geometry);
  for (int32_t k = input.layout.ndim - 1; k >= 0; --k) {
    const int64_t extent = input.layout.shape[k];
    // An input axis of extent 1 may have any stride, and may be broadcast to a longer output axis.
    const int64_t step = extent == 1 ? 0 : input.layout.strides[k];
    if (k == decision.axis) {
      geometry.reduce({extent, step, 0, 0});
      if (output.layout.shape[k] != 1) geometry.block.fold_output_step = output.layout.strides[k];
    } else {
      geometry.keep({output.layout.shape[k], step, output.layout.strides[k], 0});
    }
  }
  if (decision.method == GUF_METHOD_REDUCEAT) {
    geometry.block.indices = decision.indices;
    geometry.block.nindices = decision.length;
  }
}

guf_status launch(const op::CallView &call, const AccumulateDecision &decision, guf_error *error) {
  const op::Loop &loop = *decision.choice.loop;
  MethodKernels kernels = {};
  GUF_TRY(find_kernels(call, loop, &kernels, error));
  if (is_empty(call.operand[kOutput].layout)) return GUF_OK;
  Geometry geometry;
  make_geometry(call, decision, &geometry);
  return run(call, loop, kernels, &geometry, error);
}

// Writes the extents of the result, indexed by axis of the input. Returns the axis of the input
// whose stride must not influence the layout of the result, or kNoAxis.
int32_t find_extents(const op::CallView &call, const AccumulateDecision &decision, int64_t *out) {
  const array::Layout &input = call.operand[kInput].layout;
  std::copy_n(input.shape, input.ndim, out);
  out[decision.axis] = decision.length;
  return decision.method == GUF_METHOD_REDUCEAT ? decision.axis : kNoAxis;
}

[[gnu::noinline]] guf_status launch_with_arrays(ReduceView &view,
                                                const AccumulateDecision &decision, bool copy_input,
                                                guf_operand *output, guf_error *error) {
  op::CallView &call = view.call;
  backend::ErrorRecord record(error);
  call::Temporaries arrays(call);
  GUF_TRY(arrays.open(record.get()));
  if (op::is_missing(call.operand[kOutput])) {
    int64_t extents[GUF_MAX_NDIM];
    const int32_t silent = find_extents(call, decision, extents);
    const ResultAxes axes = same_axes(call.operand[kInput].layout.ndim);
    GUF_TRY(allocate_result(view, axes, extents, silent, 0, &arrays, record.get()));
  }
  if (copy_input) GUF_TRY(arrays.replace_by_copy(&call.operand[kInput], 0, record.get()));
  GUF_TRY(transfer_reduction(call, &arrays, record.get()));
  const guf_status status =
      finish_fold(launch(call, decision, record.get()), &arrays, record.get());
  if (status == GUF_OK) arrays.publish(output);
  return status;
}

// Runs the method. decide_accumulate or decide_reduceat has checked the output of the caller.
guf_status finish(ReduceView &view, const AccumulateDecision &decision, guf_operand *output,
                  guf_error *error) {
  op::CallView &call = view.call;
  // accumulate reads each element before it writes the result at the same position, so no copy is
  // needed if the output is the same view as the input.
  const bool in_place = decision.method == GUF_METHOD_ACCUMULATE &&
                        array::same_view(call.operand[kInput].layout, call.operand[kOutput].layout);
  const bool copy_input = !in_place && overlaps_output(call, call.operand[kInput]);
  const bool missing = op::is_missing(call.operand[kOutput]);
  if (!copy_input && !missing && !needs_device_scalars(call)) return launch(call, decision, error);
  return launch_with_arrays(view, decision, copy_input, output, error);
}

guf_status check_indices(const ReduceView &view, guf_error *error) {
  const op::OperandView &indices = view.indices;
  const guf_dtype type = indices.layout.dtype;
  if (indices.layout.ndim != 1) {
    return base::fail(error, GUF_E_SHAPE, 3, kNone,
                      "object %s for desired array; indices: expected 1 dimensions, got %d",
                      indices.layout.ndim == 0 ? "of too small depth" : "too deep",
                      indices.layout.ndim);
  }
  if (dtype::can_cast(type, GUF_I64, GUF_CASTING_SAFE)) return GUF_OK;
  base::Text found;
  dtype::spell(type, (indices.flags & op::kSwapped) != 0, &found);
  return base::fail(error, GUF_E_CASTING, 3, kNone,
                    "Cannot cast array data from dtype('%s') to dtype('int64') according to the "
                    "rule 'safe'",
                    found.c_str());
}

// Reads the indices. Contiguous int64 indices are used in place; other indices are converted and
// stored in `buffer`.
guf_status read_indices(const ReduceView &view, AccumulateDecision *decision,
                        std::vector<int64_t> *buffer, guf_error *error) {
  const op::CallView &call = view.call;
  const op::OperandView &indices = view.indices;
  const array::Layout &layout = indices.layout;
  GUF_TRY(make_readable(indices, call.stream, 3, error));
  const int64_t extent = call.operand[kInput].layout.shape[decision->axis];
  const bool swapped = (indices.flags & op::kSwapped) != 0;
  const bool plain = layout.dtype == GUF_I64 && layout.strides[0] == 8 && layout.address % 8 == 0 &&
                     !swapped && !overlaps_output(call, indices);
  decision->indices = reinterpret_cast<const int64_t *>(layout.address);
  if (!plain) {
    buffer->resize(static_cast<size_t>(decision->length));
    decision->indices = buffer->data();
  }
  for (int64_t k = 0; k < decision->length; ++k) {
    const uint64_t address = layout.address + static_cast<uint64_t>(k * layout.strides[0]);
    const int64_t index = read_index(layout.dtype, swapped, address);
    if (index < 0 || index >= extent) {
      return base::fail(error, GUF_E_INDEX, 3, decision->axis,
                        "index %lld out-of-bounds in %s.reduceat [0, %lld)",
                        static_cast<long long>(index), call.ufunc->name.c_str(),
                        static_cast<long long>(extent));
    }
    if (!plain) (*buffer)[static_cast<size_t>(k)] = index;
  }
  return GUF_OK;
}

}  // namespace

guf_status decide_accumulate(ReduceView &view, AccumulateDecision *out, guf_error *error) {
  *out = {GUF_METHOD_ACCUMULATE, "accumulate", {}, 0, nullptr, 0};
  GUF_TRY(check_reducible(*view.call.ufunc, out->name, error));
  GUF_TRY(prepare(view, error));
  GUF_TRY(find_axis(view, out->name, &out->axis, error));
  GUF_TRY(resolve_reduction(view, out->name, &out->choice, error));
  out->length = view.call.operand[kInput].layout.shape[out->axis];
  return check_output(view, out->name, out->axis, out->length, error);
}

guf_status decide_reduceat(ReduceView &view, Elements elements, std::vector<int64_t> *buffer,
                           AccumulateDecision *out, guf_error *error) {
  *out = {GUF_METHOD_REDUCEAT, "reduceat", {}, 0, nullptr, 0};
  GUF_TRY(check_reducible(*view.call.ufunc, out->name, error));
  GUF_TRY(check_indices(view, error));
  GUF_TRY(prepare(view, error));
  GUF_TRY(find_axis(view, out->name, &out->axis, error));
  out->length = view.indices.layout.shape[0];
  if (elements == Elements::kRead) {
    GUF_TRY(read_indices(view, out, buffer, error));
  } else {
    GUF_TRY(make_readable(view.indices, nullptr, 3, error));
  }
  GUF_TRY(resolve_reduction(view, out->name, &out->choice, error));
  return check_output(view, out->name, out->axis, out->length, error);
}

guf_status describe_accumulate(ReduceView &view, const AccumulateDecision &decision,
                               std::string *out, guf_error *error) {
  op::CallView &call = view.call;
  const op::Loop &loop = *decision.choice.loop;
  ResultBuffer result;
  if (op::is_missing(call.operand[kOutput])) {
    int64_t extents[GUF_MAX_NDIM];
    const int32_t silent = find_extents(call, decision, extents);
    const ResultAxes axes = same_axes(call.operand[kInput].layout.ndim);
    GUF_TRY(lay_out_result(view, axes, extents, silent, &result, error));
  }
  MethodKernels kernels = {};
  GUF_TRY(find_kernels(call, loop, &kernels, error));
  if (is_empty(call.operand[kOutput].layout)) return describe_nothing(out);
  Geometry geometry;
  make_geometry(call, decision, &geometry);
  return describe(call, loop, kernels, &geometry, out, error);
}

guf_status accumulate(ReduceView &view, guf_operand *output, guf_error *error) {
  AccumulateDecision decision;
  GUF_TRY(decide_accumulate(view, &decision, error));
  return finish(view, decision, output, error);
}

guf_status reduceat(ReduceView &view, guf_operand *output, guf_error *error) {
  AccumulateDecision decision;
  std::vector<int64_t> buffer;
  GUF_TRY(decide_reduceat(view, Elements::kRead, &buffer, &decision, error));
  return finish(view, decision, output, error);
}

}  // namespace gufunc::method
