// SPDX-License-Identifier: Apache-2.0
#include "core/call/masked_copy.h"

#include "core/broadcast/broadcast.h"
#include "core/call/pipeline.h"
#include "core/op/ufunc_registry.h"

namespace gufunc::call {
namespace {

using base::kNone;

// Returns the largest unsigned integer type that divides an element into units. The halves of a
// complex number are separate units, because they are byte-swapped separately.
guf_dtype unit_of(guf_dtype dtype) {
  const uint32_t size =
      dtype::is_complex(dtype) ? dtype::itemsize(dtype) / 2 : dtype::itemsize(dtype);
  if (size % 8 == 0) return GUF_U64;
  if (size % 4 == 0) return GUF_U32;
  return size % 2 == 0 ? GUF_U16 : GUF_U8;
}

guf_status find_copier(guf_dtype unit, base::Ref<op::Ufunc> *out, resolve::Choice *choice,
                       guf_error *error) {
  GUF_TRY(op::Context::process().find("absolute", out, error));
  const std::vector<op::Loop *> &loops = (*out)->loops().loops;
  for (uint32_t k = 0; k < loops.size(); ++k) {
    if (loops[k]->types[0] != unit) continue;
    *choice = {loops[k], k, 0};
    return GUF_OK;
  }
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone, "absolute has no loop of %s",
                    dtype::name(unit));
}

// Returns the stride of the mask along the axis of the masked array that is followed by
// `naxes_after` axes. The mask has no core axes.
int64_t mask_stride(const array::Layout &mask, int32_t naxes_after, int32_t ncore) {
  const int32_t axis = mask.ndim - 1 - (naxes_after - ncore);
  if (naxes_after < ncore || axis < 0 || mask.shape[axis] == 1) return 0;
  return mask.strides[axis];
}

}  // namespace

guf_status MaskedCopy::check(backend::Device &device, guf_dtype dtype, guf_error *error) {
  base::Ref<op::Ufunc> ufunc;
  resolve::Choice choice;
  GUF_TRY(find_copier(unit_of(dtype), &ufunc, &choice, error));
  void *kernel = nullptr;
  return backend::load_kernel(*ufunc, *choice.loop, device, &kernel, error);
}

// Sets the layouts of the copy. Axes of extent 1 are omitted, to leave room for an axis of units:
// an array with elements has fewer than GUF_MAX_NDIM axes of larger extent, because it would be too
// big otherwise. An array without elements is described by a single axis of extent 0.
guf_status MaskedCopy::take_axes(const op::CallView &outer, const memory::CopyOperand &to,
                                 const memory::CopyOperand &from, int32_t ncore, guf_error *error) {
  int64_t *const from_strides = call.stride_buffer[0];
  int64_t *const to_strides = call.stride_buffer[1];
  int64_t *const mask_strides = call.stride_buffer[GUF_MAX_OPERANDS];
  const guf_dtype unit = unit_of(to.layout.dtype);
  int32_t ndim = 0;
  for (int32_t k = 0; k < to.layout.ndim; ++k) {
    if (to.layout.shape[k] == 1) continue;
    if (to.layout.shape[k] == 0) ndim = 0;
    if (__builtin_expect(ndim == GUF_MAX_NDIM - 1, 0)) {
      return base::fail(error, GUF_E_INTERNAL, kNone, kNone,
                        "expected a masked copy of at most %d axes longer than 1, got more",
                        static_cast<int>(GUF_MAX_NDIM) - 1);
    }
    shape_[ndim] = to.layout.shape[k];
    from_strides[ndim] = from.layout.strides[k];
    to_strides[ndim] = to.layout.strides[k];
    mask_strides[ndim++] = mask_stride(outer.where.layout, to.layout.ndim - 1 - k, ncore);
    if (to.layout.shape[k] == 0) break;
  }
  const int64_t size = dtype::itemsize(unit);
  const int64_t units = dtype::itemsize(to.layout.dtype) / size;
  if (units != 1) {
    shape_[ndim] = units;
    from_strides[ndim] = to_strides[ndim] = size;
    mask_strides[ndim++] = 0;
  }
  call.operand[0].layout = {unit, ndim, shape_, from_strides, from.layout.address};
  call.operand[1].layout = {unit, ndim, shape_, to_strides, to.layout.address};
  call.where.layout = {GUF_BOOL, ndim, shape_, mask_strides, outer.where.layout.address};
  return GUF_OK;
}

guf_status MaskedCopy::prepare(const op::CallView &outer, const memory::CopyOperand &to,
                               const memory::CopyOperand &from, int32_t ncore, guf_error *error) {
  GUF_TRY(find_copier(unit_of(to.layout.dtype), &ufunc_, &choice, error));
  args_ = {};
  args_.struct_size = sizeof args_;
  args_.options.threads = outer.args->options.threads;
  call.ufunc = ufunc_.get();
  call.noperands = 2;
  call.nseparate = 0;
  call.has_where = true;
  call.args = &args_;
  call.casting = GUF_CASTING_NO;
  call.stream = outer.stream;
  call.device = outer.device;
  const memory::CopyOperand *const operands[] = {&from, &to};
  for (int32_t i = 0; i < 2; ++i) {
    op::OperandView &view = call.operand[i];
    view.span = {0, 0};  // an empty span is not checked for overlap
    view.flags = operands[i]->swapped ? static_cast<uint32_t>(op::kSwapped) : 0;
    view.kind = GUF_OPERAND_TENSOR;
    view.device = nullptr;
    view.array = nullptr;
  }
  call.where = outer.where;
  GUF_TRY(take_axes(outer, to, from, ncore, error));
  return broadcast::broadcast_operands(call, &loop, error);
}

guf_status MaskedCopy::run(guf_error *error) {
  return launch(call, loop, choice, nullptr, error);
}

}  // namespace gufunc::call
