// SPDX-License-Identifier: Apache-2.0
// Reductions over more than eight axes. Each reduced axis has its own reduction tree, and
// a block can store eight axes. For more than eight, a rule applies that depends only on
// the shape: of the axes of extent > 1, the last seven are reduced one by one, and all
// earlier axes are reduced as a single axis.
#include "core/method/many_reduced_axes.h"

#include <algorithm>

#include "core/memory/memory.h"
#include "core/memory/transfer.h"
#include "core/method/result.h"

namespace gufunc::method {
namespace {

// Computes the strides of a copy. The innermost axis is the last reduced axis, followed by the
// other reduced axes and then by the kept axes.
void strides_of_copy(guf_dtype dtype, int32_t ndim, const int64_t *shape,
                     const array::AxisSet &folded, int64_t *out) {
  int64_t stride = dtype::itemsize(dtype);
  for (const bool is_folded : {true, false}) {
    for (int32_t axis = ndim - 1; axis >= 0; --axis) {
      if (folded.test(static_cast<size_t>(axis)) != is_folded) continue;
      out[axis] = stride;
      stride *= std::max<int64_t>(shape[axis], 1);
    }
  }
}

guf_status copy_operand(op::CallView &call, const int64_t *shape, int32_t ndim,
                        const array::AxisSet &folded, op::OperandView *operand,
                        call::Temporaries *arrays, guf_error *error) {
  const array::Layout from = operand->layout;
  int64_t strides[GUF_MAX_NDIM];
  strides_of_copy(from.dtype, ndim, shape, folded, strides);
  GUF_TRY(arrays->check_capture(error));
  base::Ref<array::Array> copy;
  GUF_TRY(
      memory::allocate(*call.device, from.dtype, ndim, shape, strides, GUF_ORDER_C, &copy, error));
  if (call.stream != nullptr && operand->array != nullptr) {
    arrays->keep(base::Ref<array::Array>::share(operand->array));
  }
  const memory::CopyOperand source = {from, (operand->flags & op::kSwapped) != 0};
  GUF_TRY(memory::convert(*call.device, call.stream, {copy->layout(), false}, source, error));
  call::point_at(copy, operand);
  arrays->keep(std::move(copy));
  return GUF_OK;
}

}  // namespace

bool exceeds_reduced_axis_limit(const array::Layout &input, const array::AxisSet &folded) {
  if (input.ndim <= GUF_MAX_LOOP_NDIM) return false;
  int32_t count = 0;
  for (int32_t axis = 0; axis < input.ndim; ++axis) {
    if (input.shape[axis] == 0) return false;  // no elements to reduce
    if (folded.test(static_cast<size_t>(axis)) && input.shape[axis] != 1) ++count;
  }
  return count > GUF_MAX_LOOP_NDIM;
}

void set_contiguous_layout(op::CallView &call, const array::AxisSet &folded,
                           ContiguousBuffer *buffer) {
  const array::Layout input = call.operand[kInput].layout;
  std::copy_n(input.shape, input.ndim, buffer->shape);
  const auto lay_out = [&](op::OperandView &operand, int64_t *strides) {
    const guf_dtype dtype = operand.layout.dtype;
    strides_of_copy(dtype, input.ndim, buffer->shape, folded, strides);
    operand.layout = {dtype, input.ndim, buffer->shape, strides, kDummyAddress};
    operand.flags = 0;
  };
  lay_out(call.operand[kInput], buffer->strides);
  if (call.has_where) lay_out(call.where, buffer->mask_strides);
}

guf_status make_reduced_axes_contiguous(op::CallView &call, const array::AxisSet &folded,
                                        call::Temporaries *arrays, guf_error *error) {
  op::OperandView &input = call.operand[kInput];
  const int32_t ndim = input.layout.ndim;
  int64_t shape[GUF_MAX_NDIM];
  std::copy_n(input.layout.shape, ndim, shape);
  GUF_TRY(copy_operand(call, shape, ndim, folded, &input, arrays, error));
  if (!call.has_where) return GUF_OK;
  return copy_operand(call, shape, ndim, folded, &call.where, arrays, error);
}

}  // namespace gufunc::method
