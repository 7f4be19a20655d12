// SPDX-License-Identifier: Apache-2.0
// Axes and shapes of results. Error messages repeat the texts of nditer, which NumPy uses for
// reductions.
#include "core/method/result.h"

#include <algorithm>

#include "core/array/overlap.h"
#include "core/broadcast/broadcast.h"
#include "core/call/requested_fp_flags.h"

namespace gufunc::method {

using base::kNone;
guf_status find_axes(const FoldView &view, array::AxisSet *out, guf_error *error) {
  const int32_t ndim = view.call.operand[kInput].layout.ndim;
  static constexpr int64_t kFirst = 0;
  out->reset();
  if (view.naxis == GUF_ALL_AXES) {
    for (int32_t axis = 0; axis < ndim; ++axis) out->set(static_cast<size_t>(axis));
  } else {
    const bool plain = view.axis == nullptr;
    const int32_t count = plain ? 1 : view.naxis;
    const int64_t *const axes = plain ? &kFirst : view.axis;
    // NumPy accepts the axes 0 and -1 for a 0-d array.
    const bool scalar = ndim == 0 && count == 1 && (axes[0] == 0 || axes[0] == -1);
    if (!scalar)
      GUF_TRY(array::mark_axes(count, axes, ndim, "duplicate value in 'axis'", out, error));
  }
  return GUF_OK;
}

guf_status check_order(const op::Ufunc &ufunc, const array::AxisSet &folded, guf_error *error) {
  if (folded.count() <= 1 || ufunc.identity != GUF_IDENTITY_NONE) return GUF_OK;
  return base::fail(
      error, GUF_E_VALUE, kNone, kNone,
      "reduction operation '%s' is not reorderable, so at most one axis may be specified",
      ufunc.name.c_str());
}

guf_status find_axis(const FoldView &view, const char *name, int32_t *out, guf_error *error) {
  const int32_t ndim = view.call.operand[kInput].layout.ndim;
  if (ndim == 0 && (view.one_axis == 0 || view.one_axis == -1)) {
    return base::fail(error, GUF_E_DTYPE, kInput, kNone, "cannot %s on a scalar", name);
  }
  return array::normalize_axis(view.one_axis, ndim, out, error);
}

ResultAxes reduced_axes(int32_t ndim, const array::AxisSet &folded, bool keepdims) {
  ResultAxes axes;
  axes.ndim = 0;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    const bool has = keepdims || !folded.test(static_cast<size_t>(axis));
    axes.of_input[axis] = has ? axes.ndim++ : kNoAxis;
  }
  return axes;
}

ResultAxes same_axes(int32_t ndim) {
  return reduced_axes(ndim, {}, true);
}

guf_status lay_out_result(FoldView &view, const ResultAxes &axes, const int64_t *extents,
                          int32_t ignored_axis, ResultBuffer *buffer, guf_error *error) {
  op::CallView &call = view.call;
  const array::Layout input = call.operand[kInput].layout;
  broadcast::LoopShape loop;
  loop.ndim = input.ndim;
  std::fill_n(loop.core_ndim, 3, 0);
  int64_t order_strides[GUF_MAX_NDIM];
  std::copy_n(input.strides, input.ndim, order_strides);
  // Orders other than KEEP ignore the input's strides.
  if (ignored_axis != kNoAxis && call.args->order == GUF_ORDER_KEEP)
    order_strides[ignored_axis] = 0;
  call.operand[kLeft].layout.strides = order_strides;
  call.operand[kInput].layout.strides = order_strides;
  int64_t full[GUF_MAX_NDIM];
  const guf_status status =
      broadcast::result_strides(call, loop, kOutput, input.ndim, extents, full, error);
  call.operand[kLeft].layout.strides = input.strides;
  call.operand[kInput].layout.strides = input.strides;
  GUF_TRY(status);
  for (int32_t k = 0; k < input.ndim; ++k) {
    const int32_t axis = axes.of_input[k];
    if (axis == kNoAxis) continue;
    buffer->shape[axis] = extents[k];
    buffer->strides[axis] = full[k];
  }
  array::Layout &layout = call.operand[kOutput].layout;
  layout = {layout.dtype, axes.ndim, buffer->shape, buffer->strides, kDummyAddress};
  return GUF_OK;
}

guf_status allocate_result(FoldView &view, const ResultAxes &axes, const int64_t *extents,
                           int32_t ignored_axis, int32_t index, call::Temporaries *arrays,
                           guf_error *error) {
  GUF_TRY(arrays->check_capture(error));
  op::OperandView &output = view.call.operand[kOutput];
  ResultBuffer buffer;
  GUF_TRY(lay_out_result(view, axes, extents, ignored_axis, &buffer, error));
  base::Ref<array::Array> array;
  backend::Device *host = nullptr;
  GUF_TRY(arrays->find_host(&host, error));
  GUF_TRY(memory::allocate(*host, output.layout.dtype, axes.ndim, buffer.shape, buffer.strides,
                           GUF_ORDER_C, &array, error));
  call::point_at(array, &output);
  arrays->add_output(index, std::move(array));
  return GUF_OK;
}

guf_status transfer_reduction(op::CallView &call, call::Temporaries *arrays, guf_error *error) {
  GUF_TRY(arrays->transfer_input(&call.operand[kInput], error));
  if (call.has_where) GUF_TRY(arrays->transfer_input(&call.where, error));
  if (needs_device_scalars(call)) GUF_TRY(arrays->copy_scalars_to_device(error));
  return arrays->transfer_output(&call.operand[kOutput], false, call::Temporaries::kUnmasked,
                                 error);
}

guf_status finish_fold(guf_status status, call::Temporaries *arrays, guf_error *error) {
  call::FpFailure failure(error);
  status = failure.keep(status);
  if (status == GUF_OK) status = arrays->write_back(failure.error());
  if (status == GUF_OK) status = failure.keep(arrays->close(failure.error()));
  arrays->retain_until_done();
  return status == GUF_OK ? failure.status() : status;
}

bool is_empty(const array::Layout &layout) {
  return std::find(layout.shape, layout.shape + layout.ndim, 0) != layout.shape + layout.ndim;
}

bool overlaps_output(const op::CallView &call, const op::OperandView &other) {
  const op::OperandView &output = call.operand[kOutput];
  if (((output.flags | other.flags) & (op::kMissing | op::kScalar)) != 0) return false;
  return array::spans_overlap(output.span, other.span) &&
         array::shares_memory(output.layout, other.layout);
}

}  // namespace gufunc::method
