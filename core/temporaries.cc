// SPDX-License-Identifier: Apache-2.0
// Arrays that a call makes.
#include "core/temporaries.h"

#include <algorithm>
#include <cstring>

#include "core/masked_copy.h"

namespace gufunc::pipeline {

void point_at(const base::Ref<array::Array> &array, op::OperandView *operand) {
  operand->layout = array->layout();
  operand->span = array->span();
  operand->flags = 0;
  operand->array = array.get();
  operand->device = array->device();
}

guf_status lay_out_missing(op::CallView &call, int32_t operand, broadcast::LoopShape *loop,
                           guf_error *error) {
  array::Layout &layout = call.operand[operand].layout;
  int64_t *const shape = loop->shape_room[operand];
  int64_t *const strides = call.stride_room[operand];
  int32_t ndim = 0;
  GUF_TRY(broadcast::operand_shape(call, *loop, operand, &ndim, shape, error));
  GUF_TRY(broadcast::result_strides(call, *loop, operand, ndim, shape, strides, error));
  layout = {layout.dtype, ndim, shape, strides, 0};
  return GUF_OK;
}

guf_status Temporaries::allocate_output(int32_t operand, broadcast::LoopShape *loop,
                                        guf_error *error) {
  op::OperandView &view = call_.operand[operand];
  GUF_TRY(lay_out_missing(call_, operand, loop, error));
  const int64_t *const shape = view.layout.shape;
  const int64_t *const strides = view.layout.strides;
  const int32_t ndim = view.layout.ndim;
  int64_t caller_shape[GUF_MAX_NDIM];
  int64_t caller_strides[GUF_MAX_NDIM];
  for (int32_t k = 0; k < ndim; ++k) {
    const int32_t axis = loop->turned ? loop->order[operand][k] : k;
    caller_shape[axis] = shape[k];
    caller_strides[axis] = strides[k];
  }
  base::Ref<array::Array> array;
  const guf_dtype dtype = view.layout.dtype;
  GUF_TRY(memory::allocate(*call_.device, dtype, ndim, caller_shape, caller_strides, GUF_ORDER_C,
                           &array, error));
  add_output(operand - call_.ufunc->nin(), array);
  point_at(array, &view);
  view.layout.shape = shape;
  view.layout.strides = strides;
  return GUF_OK;
}

guf_status Temporaries::allocate_outputs(broadcast::LoopShape *loop, guf_error *error) {
  for (int32_t i = 0; i < call_.noperands; ++i) {
    if (op::is_missing(call_.operand[i])) GUF_TRY(allocate_output(i, loop, error));
  }
  return GUF_OK;
}

guf_status Temporaries::replace_by_copy(op::OperandView *operand, guf_dtype dtype,
                                        guf_error *error) {
  // Stretched axes are copied once: their stride stays 0.
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  const array::Layout from = operand->layout;
  for (int32_t k = 0; k < from.ndim; ++k)
    shape[k] = from.strides[k] == 0 && from.shape[k] > 1 ? 1 : from.shape[k];
  if (dtype == GUF_DTYPE_UNSPECIFIED) dtype = from.dtype;
  if (call_.stream != nullptr && operand->array != nullptr)
    keep(base::Ref<array::Array>::share(operand->array));
  base::Ref<array::Array> copy;
  GUF_TRY(
      memory::allocate(*call_.device, dtype, from.ndim, shape, nullptr, GUF_ORDER_C, &copy, error));
  const array::Layout to = copy->layout();
  const memory::Side source = {{from.dtype, from.ndim, to.shape, from.strides, from.address},
                               (operand->flags & op::kSwapped) != 0};
  GUF_TRY(memory::convert(*call_.device, call_.stream, {to, false}, source, error));
  for (int32_t k = 0; k < from.ndim; ++k)
    strides[k] = shape[k] == from.shape[k] ? to.strides[k] : 0;
  // The view keeps the operand's shape; its strides need a home that lives as long as the copy.
  const array::Layout view = {dtype, from.ndim, from.shape, strides, to.address};
  auto stretched =
      base::Ref<array::Array>::adopt(new array::Array(view, 0, copy->device(), copy->storage()));
  point_at(stretched, operand);
  keep(std::move(copy));
  keep(std::move(stretched));
  return GUF_OK;
}

guf_status Temporaries::copy_overlapping(const OverlapWork &work, const broadcast::LoopShape &loop,
                                         guf_error *error) {
  for (int32_t i = 0; i < call_.noperands; ++i) {
    if (is_bit(work.copied, i))
      GUF_TRY(replace_by_copy(&call_.operand[i], GUF_DTYPE_UNSPECIFIED, error));
    if (is_bit(work.staged, i)) {
      const op::OperandView to = call_.operand[i];
      GUF_TRY(replace_by_copy(&call_.operand[i], GUF_DTYPE_UNSPECIFIED, error));
      GUF_TRY(write_back_later(to, call_.operand[i], loop.core_ndim[i], error));
    }
  }
  if (work.mask_copied) GUF_TRY(replace_by_copy(&call_.where, GUF_DTYPE_UNSPECIFIED, error));
  return GUF_OK;
}

guf_status Temporaries::lift_scalars(guf_error *error) {
  op::OperandView *scalars[GUF_MAX_OPERANDS + 1];
  int32_t count = 0;
  for (int32_t i = 0; i < call_.noperands; ++i) {
    if ((call_.operand[i].flags & op::kScalar) != 0) scalars[count++] = &call_.operand[i];
  }
  if (call_.has_where && (call_.where.flags & op::kScalar) != 0) scalars[count++] = &call_.where;
  return count == 0 ? GUF_OK : lift(scalars, count, error);
}

guf_status Temporaries::lift(op::OperandView *const *scalars, int32_t count, guf_error *error) {
  constexpr int64_t kRoom = 16;
  const int64_t nbytes = kRoom * count;
  base::Ref<array::Array> box;
  GUF_TRY(memory::allocate(*call_.device, GUF_U8, 1, &nbytes, nullptr, GUF_ORDER_C, &box, error));
  for (int32_t k = 0; k < count; ++k) {
    array::Layout &layout = scalars[k]->layout;
    const uint64_t address = box->layout().address + static_cast<uint64_t>(kRoom * k);
    std::memcpy(reinterpret_cast<void *>(address), reinterpret_cast<const void *>(layout.address),
                dtype::itemsize(layout.dtype));
    layout.address = address;
  }
  keep(std::move(box));
  return GUF_OK;
}

guf_status Temporaries::write_back(guf_error *error) {
  for (const Staged &staged : staged_) {
    GUF_TRY(call_.has_where
                ? write_back_masked(staged, error)
                : memory::convert(*call_.device, call_.stream, staged.to, staged.from, error));
  }
  return GUF_OK;
}

// What the mask leaves out of an output may have been written by the output before it, which the
// copy was made too early to know.
guf_status Temporaries::write_back_masked(const Staged &staged, guf_error *error) {
  if (staged.cast.layout.address != staged.from.layout.address) {
    GUF_TRY(memory::convert(*call_.device, call_.stream, staged.cast, staged.from, error));
  }
  MaskedCopy copy;
  GUF_TRY(copy.arrange(call_, staged.to, staged.cast, staged.ncore, error));
  return copy.run(error);
}

void Temporaries::publish(guf_operand *outputs) const {
  for (const Output &output : outputs_) {
    const uint64_t handle = base::publish(output.array.get());
    guf_operand &place = outputs[output.index];
    place = {};
    place.kind = GUF_OPERAND_ARRAY;
    place.array = reinterpret_cast<guf_array>(handle);
  }
}

guf_status Temporaries::write_back_later(const op::OperandView &to, const op::OperandView &from,
                                         int32_t ncore, guf_error *error) {
  Staged staged = {side_of(to), side_of(from), side_of(from), ncore};
  if (call_.has_where) {
    GUF_TRY(MaskedCopy::check(*call_.device, to.layout.dtype, error));
    if (from.layout.dtype != to.layout.dtype) {
      base::Ref<array::Array> cast;
      GUF_TRY(memory::allocate(*call_.device, to.layout.dtype, to.layout.ndim, to.layout.shape,
                               nullptr, GUF_ORDER_C, &cast, error));
      staged.cast = {cast->layout(), false};
      keep(std::move(cast));
    }
  }
  staged_.push_back(staged);
  return GUF_OK;
}

Temporaries::~Temporaries() {
  if (call_.stream == nullptr || handed_over_) return;
  // A failure on the way: what was queued may still use what goes now.
  backend::wait_quietly(*call_.stream);
}

void Temporaries::hand_over() {
  if (call_.stream == nullptr) return;
  std::vector<base::Ref<base::Object>> objects;
  const auto share = [&](array::Array *array) {
    if (array != nullptr) objects.push_back(base::Ref<base::Object>::share(array));
  };
  for (int32_t i = 0; i < call_.noperands + call_.nseparate; ++i) share(call_.operand[i].array);
  if (call_.has_where) share(call_.where.array);
  // Its loops' code and what they own.
  objects.push_back(base::Ref<base::Object>::share(call_.ufunc));
  for (const base::Ref<array::Array> &array : kept_) share(array.get());
  backend::keep_until_done(*call_.stream, std::move(objects));
  handed_over_ = true;
}

}  // namespace gufunc::pipeline
