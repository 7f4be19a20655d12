// SPDX-License-Identifier: Apache-2.0
// Axes and shapes of results. Checks outputs and masks against the input. Error messages repeat the
// texts of nditer, which NumPy uses for reductions.
#include "core/method/result.h"

#include <algorithm>

#include "core/array/overlap.h"
#include "core/broadcast/broadcast.h"
#include "core/call/requested_fp_flags.h"
#include "core/geometry/launch.h"

namespace gufunc::method {
namespace {

using base::kNone;

// Appends a shape and its axis mapping, such as "(2,)->(2,newaxis)". Leading axes
// that are missing in the output are omitted.
void add_remapped(const array::Layout &layout, int32_t ndim, const ResultAxes &axes,
                  base::Text *text) {
  int32_t k = 0;
  while (k < ndim && axes.of_input[k] == kNoAxis) ++k;
  text->add_shape(layout.shape, layout.ndim).add("->(");
  for (; k < ndim; ++k) {
    const int32_t axis = axes.of_input[k];
    if (axis == kNoAxis) {
      text->add("newaxis");
    } else {
      text->add("%lld", static_cast<long long>(layout.shape[axis]));
    }
    text->add(k + 1 < ndim || ndim == 1 ? "," : "");
  }
  text->add(") ");
}

[[gnu::cold, gnu::noinline]] guf_status fail_broadcast(const ReduceView &view,
                                                       const ResultAxes &axes, int32_t operand,
                                                       int32_t axis, int64_t found,
                                                       int64_t expected, guf_error *error) {
  const op::CallView &call = view.call;
  const array::Layout &input = call.operand[kInput].layout;
  base::Text text;
  if (!is_missing(call.operand[kOutput])) {
    add_remapped(call.operand[kOutput].layout, input.ndim, axes, &text);
  }
  text.add_shape(input.shape, input.ndim).add(" ");
  if (call.has_where) text.add_shape(call.where.layout.shape, call.where.layout.ndim).add(" ");
  return base::fail(error, GUF_E_SHAPE, operand, axis,
                    "operands could not be broadcast together with remapped shapes "
                    "[original->remapped]: %s; argument %d, axis %d: expected %lld, got %lld",
                    text.c_str(), operand, axis, static_cast<long long>(expected),
                    static_cast<long long>(found));
}

guf_status check_dimensions(const ReduceView &view, const ResultAxes &axes, int32_t argument,
                            guf_error *error) {
  const op::CallView &call = view.call;
  if (is_missing(call.operand[kOutput])) return GUF_OK;
  const array::Layout &output = call.operand[kOutput].layout;
  if (output.ndim == axes.ndim) return GUF_OK;
  return base::fail(error, GUF_E_SHAPE, argument, kNone,
                    "output parameter for reduction operation %s has the wrong number of "
                    "dimensions: Found %d but expected %d%s",
                    call.ufunc->name.c_str(), output.ndim, axes.ndim,
                    view.keepdims ? " (must match the operand's when keepdims=True)" : "");
}

// Broadcasts an extent against the common extent. Returns false if the extents are incompatible.
bool broadcast_extent(int64_t extent, int64_t *common) {
  if (extent == *common || extent == 1) return true;
  if (*common != 1) return false;
  *common = extent;
  return true;
}

guf_status fail_narrow(const ReduceView &view, const int64_t *common, int32_t axis,
                       guf_error *error) {
  const array::Layout &input = view.call.operand[kInput].layout;
  base::Text text;
  text.add("non-broadcastable operand with shape ").add_shape(input.shape, input.ndim);
  text.add(" doesn't match the broadcast shape ").add_shape(common, input.ndim);
  return base::fail(error, GUF_E_SHAPE, kInput, axis, "%s", text.c_str());
}

// Computes the common shape of the input, the output and the mask. The output is broadcast against
// the input first, and then the mask.
guf_status find_common(const ReduceView &view, const ResultAxes &axes, int32_t argument,
                       int64_t *common, guf_error *error) {
  const op::CallView &call = view.call;
  const array::Layout &input = call.operand[kInput].layout;
  const bool given = !is_missing(call.operand[kOutput]);
  for (int32_t k = 0; k < input.ndim; ++k) {
    common[k] = input.shape[k];
    const int32_t axis = axes.of_input[k];
    if (!given || axis == kNoAxis) continue;
    const int64_t extent = call.operand[kOutput].layout.shape[axis];
    if (!broadcast_extent(extent, &common[k]))
      return fail_broadcast(view, axes, argument, axis, extent, common[k], error);
  }
  if (!call.has_where) return GUF_OK;
  const array::Layout &mask = call.where.layout;
  if (mask.ndim > input.ndim) {
    return base::fail(error, GUF_E_SHAPE, 3, kNone,
                      "input operand has more dimensions than allowed by the axis remapping; "
                      "where: expected at most %d, got %d",
                      input.ndim, mask.ndim);
  }
  for (int32_t own = 0; own < mask.ndim; ++own) {
    const int32_t k = own + input.ndim - mask.ndim;
    if (!broadcast_extent(mask.shape[own], &common[k]))
      return fail_broadcast(view, axes, 3, own, mask.shape[own], common[k], error);
  }
  return GUF_OK;
}

// Checks the extent of one output axis. A reduced axis that keepdims= keeps must have extent 1, and
// any other axis must have the common extent.
guf_status check_axis(int32_t axis, int64_t found, bool reduced, int64_t common, int32_t argument,
                      guf_error *error) {
  if (found == (reduced ? 1 : common)) return GUF_OK;
  if (reduced) {
    return base::fail(error, GUF_E_SHAPE, argument, axis,
                      "operand was set up as a reduction along axis %d, but the length of the axis "
                      "is %lld (it has to be 1)",
                      axis, static_cast<long long>(found));
  }
  return base::fail(error, GUF_E_SHAPE, argument, axis,
                    "output operand requires a reduction along dimension %d, but the reduction is "
                    "not enabled. The dimension size of %lld does not match the expected output "
                    "shape.",
                    axis, static_cast<long long>(found));
}

}  // namespace

guf_status check_reduced(const ReduceView &view, const array::AxisSet &reduced,
                         const ResultAxes &axes, int32_t argument, guf_error *error) {
  const op::CallView &call = view.call;
  const bool given = !is_missing(call.operand[kOutput]);
  if (!given && !call.has_where) return GUF_OK;
  GUF_TRY(check_dimensions(view, axes, argument, error));
  int64_t common[GUF_MAX_NDIM];
  GUF_TRY(find_common(view, axes, argument, common, error));
  const array::Layout &input = call.operand[kInput].layout;
  for (int32_t k = input.ndim - 1; k >= 0; --k) {  // nditer checks the last axis first
    const int32_t axis = axes.of_input[k];
    if (given && axis != kNoAxis) {
      GUF_TRY(check_axis(axis, call.operand[kOutput].layout.shape[axis],
                         reduced.test(static_cast<size_t>(k)), common[k], argument, error));
    }
    if (input.shape[k] != common[k]) return fail_narrow(view, common, k, error);
  }
  return GUF_OK;
}

guf_status check_output(const ReduceView &view, const char *name, int32_t axis, int64_t extent,
                        guf_error *error) {
  const array::Layout &input = view.call.operand[kInput].layout;
  const array::Layout &output = view.call.operand[kOutput].layout;
  if (is_missing(view.call.operand[kOutput])) return GUF_OK;
  bool fits = output.ndim == input.ndim;
  for (int32_t k = 0; fits && k < input.ndim; ++k) {
    const int64_t expected = k == axis ? extent : input.shape[k];
    fits = output.shape[k] == expected || (k != axis && expected == 1);
  }
  if (fits) return GUF_OK;
  base::Text shapes;
  shapes.add("got ").add_shape(output.shape, output.ndim);
  shapes.add(", the input has ").add_shape(input.shape, input.ndim);
  shapes.add(" and %lld results along axis %d", static_cast<long long>(extent), axis);
  const bool accumulates = name[0] == 'a';
  if (input.ndim == 1 && accumulates) {
    return base::fail(error, GUF_E_SHAPE, kOutput, kNone,
                      "provided out is the wrong size for the accumulation.; argument %d: %s",
                      kOutput, shapes.c_str());
  }
  if (output.ndim < input.ndim) {
    return base::fail(
        error, GUF_E_SHAPE, kOutput, kNone,
        "Iterator input op_axes[0][%d] (==%d) is not a valid axis of op[0], which has "
        "%d dimensions ; argument %d: %s",
        input.ndim - 1 - output.ndim, output.ndim, output.ndim, kOutput, shapes.c_str());
  }
  base::Text text;
  text.add_shape(output.shape, output.ndim).add("->").add_shape(output.shape, input.ndim);
  text.add(" ").add_shape(input.shape, input.ndim).add("->").add_shape(input.shape, input.ndim);
  return base::fail(error, GUF_E_SHAPE, kOutput, kNone,
                    "operands could not be broadcast together with remapped shapes "
                    "[original->remapped]: %s ; argument %d: %s",
                    text.c_str(), kOutput, shapes.c_str());
}

using base::kNone;
guf_status find_axes(const ReduceView &view, array::AxisSet *out, guf_error *error) {
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

guf_status check_order(const op::Ufunc &ufunc, const array::AxisSet &reduced, guf_error *error) {
  if (reduced.count() <= 1 || ufunc.identity != GUF_IDENTITY_NONE) return GUF_OK;
  return base::fail(
      error, GUF_E_VALUE, kNone, kNone,
      "reduction operation '%s' is not reorderable, so at most one axis may be specified",
      ufunc.name.c_str());
}

guf_status find_axis(const ReduceView &view, const char *name, int32_t *out, guf_error *error) {
  const int32_t ndim = view.call.operand[kInput].layout.ndim;
  if (ndim == 0 && (view.one_axis == 0 || view.one_axis == -1)) {
    return base::fail(error, GUF_E_DTYPE, kInput, kNone, "cannot %s on a scalar", name);
  }
  return array::normalize_axis(view.one_axis, ndim, out, error);
}

void find_reduced_axes(int32_t ndim, const array::AxisSet &reduced, bool keepdims,
                       ResultAxes *out) {
  out->ndim = 0;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    const bool has = keepdims || !reduced.test(static_cast<size_t>(axis));
    out->of_input[axis] = has ? out->ndim++ : kNoAxis;
  }
}

ResultAxes same_axes(int32_t ndim) {
  ResultAxes axes;
  find_reduced_axes(ndim, {}, true, &axes);
  return axes;
}

guf_status lay_out_result(ReduceView &view, const ResultAxes &axes, const int64_t *extents,
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
  layout = {layout.dtype, axes.ndim, buffer->shape, buffer->strides, geometry::kDummyAddress};
  return GUF_OK;
}

guf_status allocate_result(ReduceView &view, const ResultAxes &axes, const int64_t *extents,
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
