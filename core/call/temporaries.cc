// SPDX-License-Identifier: Apache-2.0
// Temporary arrays and new outputs of a call.
#include "core/call/temporaries.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/array/overlap.h"
#include "core/backend/graph.h"
#include "core/call/masked_copy.h"
#include "core/memory/transfer.h"
#include "core/plugin/find_device.h"

namespace gufunc::call {

void point_at(const base::Ref<array::Array> &array, op::OperandView *operand) {
  operand->layout = array->layout();
  operand->span = array->span();
  operand->flags = 0;
  operand->array = array.get();
  operand->device = array->device();
}

bool waits_for_host(const op::CallView &call) {
  if (call.stream != nullptr || call.device->host_memory) return false;
  const auto is_used_on_device = [&](const op::OperandView &operand) {
    constexpr uint32_t kNotOnDevice = op::kScalar | op::kMissing | op::kDeviceMemory;
    return (operand.flags & kNotOnDevice) == 0 && operand.device == call.device;
  };
  const op::OperandView *const end = call.operand + call.noperands + call.nseparate;
  return std::any_of<const op::OperandView *>(call.operand, end, is_used_on_device) ||
         (call.has_where && is_used_on_device(call.where));
}

guf_status lay_out_missing(op::CallView &call, int32_t operand, broadcast::LoopShape *loop,
                           guf_error *error) {
  array::Layout &layout = call.operand[operand].layout;
  int64_t *const shape = loop->shape_buffer[operand];
  int64_t *const strides = call.stride_buffer[operand];
  int32_t ndim = 0;
  GUF_TRY(broadcast::operand_shape(call, *loop, operand, &ndim, shape, error));
  GUF_TRY(broadcast::result_strides(call, *loop, operand, ndim, shape, strides, error));
  layout = {layout.dtype, ndim, shape, strides, 0};
  return GUF_OK;
}

guf_status Temporaries::allocate_output(int32_t operand, broadcast::LoopShape *loop,
                                        guf_error *error) {
  op::OperandView &view = call_.operand[operand];
  GUF_TRY(check_capture(error));
  GUF_TRY(lay_out_missing(call_, operand, loop, error));
  const int64_t *const shape = view.layout.shape;
  const int64_t *const strides = view.layout.strides;
  const int32_t ndim = view.layout.ndim;
  int64_t caller_shape[GUF_MAX_NDIM];
  int64_t caller_strides[GUF_MAX_NDIM];
  for (int32_t k = 0; k < ndim; ++k) {
    const int32_t axis = loop->permuted ? loop->axis_permutation[operand][k] : k;
    caller_shape[axis] = shape[k];
    caller_strides[axis] = strides[k];
  }
  base::Ref<array::Array> array;
  const guf_dtype dtype = view.layout.dtype;
  backend::Device *host = nullptr;
  GUF_TRY(find_host(&host, error));
  GUF_TRY(memory::allocate(*host, dtype, ndim, caller_shape, caller_strides, GUF_ORDER_C, &array,
                           error));
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

guf_status Temporaries::check_capture(guf_error *error) const {
  if (call_.stream == nullptr || !backend::is_captured(*call_.stream)) return GUF_OK;
  return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone,
                    "%s: a call on a captured stream cannot allocate: pass outputs that are on its "
                    "device and do not overlap the inputs",
                    call_.ufunc->name.c_str());
}

guf_status Temporaries::find_host(backend::Device **out, guf_error *error) const {
  *out = call_.device;
  return call_.host_copies == op::HostCopies::kAll ? plugin::cpu_device(out, error) : GUF_OK;
}

guf_status Temporaries::replace_by_copy(op::OperandView *operand, guf_dtype dtype,
                                        guf_error *error) {
  return make_copy(operand, dtype, true, false, error);
}

guf_status Temporaries::make_copy(op::OperandView *operand, guf_dtype dtype, bool load, bool whole,
                                  guf_error *error) {
  GUF_TRY(check_capture(error));
  const array::Layout from = operand->layout;
  if (dtype == GUF_DTYPE_UNSPECIFIED) dtype = from.dtype;
  StagedLayout layout;
  GUF_TRY(lay_out_copy(from, dtype, whole, &layout, error));
  if (call_.stream != nullptr && operand->array != nullptr)
    keep(base::Ref<array::Array>::share(operand->array));
  base::Ref<array::Array> copy;
  GUF_TRY(memory::allocate(*call_.device, dtype, from.ndim, layout.shape, nullptr, GUF_ORDER_C,
                           &copy, error));
  const array::Layout to = copy->layout();
  memory::CopyOperand source = as_copy_operand(*operand);
  source.layout.shape = layout.shape;
  if (load && needs_transfer(call_, *operand)) {
    backend::Device *cpu = nullptr;
    GUF_TRY(plugin::cpu_device(&cpu, error));
    GUF_TRY(memory::transfer({{to, false}, call_.device}, {source, cpu}, call_.stream, error));
  } else if (load) {
    GUF_TRY(memory::convert(*call_.device, call_.stream, {to, false}, source, error));
  }
  // A view of the copy with the operand's shape. The view is an array, so that its strides live as
  // long as the copy.
  const array::Layout view = {dtype, from.ndim, from.shape, layout.broadcast_strides, to.address};
  auto stretched =
      base::Ref<array::Array>::adopt(new array::Array(view, 0, copy->device(), copy->storage()));
  point_at(stretched, operand);
  keep(std::move(copy));
  keep(std::move(stretched));
  return GUF_OK;
}

guf_status Temporaries::make_copies(const Staging &staging, const broadcast::LoopShape &loop,
                                    guf_error *error) {
  for (const StagedOperand &staged : staging) {
    if (staged.whole) {
      GUF_TRY(make_whole_copy(staged, loop, error));
      continue;
    }
    op::OperandView &operand = staged_view(call_, staged);
    const op::OperandView original = operand;
    GUF_TRY(make_copy(&operand, staged.dtype, staged.load, false, error));
    if (staged.store)
      GUF_TRY(write_back_later(original, operand, loop.core_ndim[staged.operand], error));
  }
  return GUF_OK;
}

// Copies an input that the kernel overwrites. Operands in host memory are transferred before they
// are spread over the loop dimensions, so that no element is transferred twice.
guf_status Temporaries::make_whole_copy(const StagedOperand &staged,
                                        const broadcast::LoopShape &loop, guf_error *error) {
  op::OperandView &operand = call_.operand[staged.operand];
  const bool transferred = needs_transfer(call_, operand);
  if (transferred) GUF_TRY(make_copy(&operand, staged.dtype, true, false, error));
  SpreadLayout layout;
  GUF_TRY(spread(call_, loop, staged.operand, &layout, error));
  if (transferred && !layout.repeats) return GUF_OK;
  operand.layout.ndim = layout.ndim;
  operand.layout.shape = layout.shape;
  operand.layout.strides = layout.strides;
  return make_copy(&operand, staged.dtype, true, true, error);
}

guf_status Temporaries::open(guf_error *error) {
  if (call_.host_copies == op::HostCopies::kNone && !waits_for_host(call_)) return GUF_OK;
  GUF_TRY(check_capture(error));
  GUF_TRY(borrowed_.open(*call_.device, call_.stream, error));
  call_.stream = borrowed_.get();
  if (call_.has_where) original_mask_ = call_.where;
  return GUF_OK;
}

guf_status Temporaries::close(guf_error *error) {
  return borrowed_.get() == nullptr ? GUF_OK : borrowed_.finish(error);
}

guf_status Temporaries::transfer_input(op::OperandView *operand, guf_error *error) {
  return needs_transfer(call_, *operand)
             ? make_copy(operand, GUF_DTYPE_UNSPECIFIED, true, false, error)
             : GUF_OK;
}

guf_status Temporaries::transfer_output(op::OperandView *operand, bool load, int32_t ncore,
                                        guf_error *error) {
  if (!needs_transfer(call_, *operand)) return GUF_OK;
  const op::OperandView original = *operand;
  GUF_TRY(make_copy(operand, GUF_DTYPE_UNSPECIFIED, load, false, error));
  return write_back_later(original, *operand, ncore, error);
}

guf_status Temporaries::copy_scalars_to_device(guf_error *error) {
  op::OperandView *scalars[GUF_MAX_OPERANDS + 1];
  int32_t count = 0;
  for (int32_t i = 0; i < call_.noperands; ++i) {
    if ((call_.operand[i].flags & op::kScalar) != 0) scalars[count++] = &call_.operand[i];
  }
  if (call_.has_where && (call_.where.flags & op::kScalar) != 0) scalars[count++] = &call_.where;
  return count == 0 ? GUF_OK : copy_scalars_to_device(scalars, count, error);
}

guf_status Temporaries::copy_scalars_to_device(op::OperandView *const *scalars, int32_t count,
                                               guf_error *error) {
  constexpr int64_t kCapacity = 16;
  const int64_t nbytes = kCapacity * count;
  GUF_TRY(check_capture(error));
  base::Ref<array::Array> box;
  GUF_TRY(memory::allocate(*call_.device, GUF_U8, 1, &nbytes, nullptr, GUF_ORDER_C, &box, error));
  for (int32_t k = 0; k < count; ++k) {
    array::Layout &layout = scalars[k]->layout;
    const array::Layout copy = {layout.dtype, 0, nullptr, nullptr,
                                box->layout().address + static_cast<uint64_t>(kCapacity * k)};
    if (call_.device->host_memory) {
      std::memcpy(reinterpret_cast<void *>(copy.address),
                  reinterpret_cast<const void *>(layout.address), dtype::itemsize(layout.dtype));
    } else {
      GUF_TRY(memory::convert(*call_.device, call_.stream, {copy, false}, {layout, false, true},
                              error));
      scalars[k]->flags &= ~static_cast<uint32_t>(op::kScalar);
      scalars[k]->device = call_.device;
    }
    layout.address = copy.address;
  }
  keep(std::move(box));
  return GUF_OK;
}

guf_status Temporaries::write_back(guf_error *error) {
  for (const Staged &staged : staged_) {
    const guf_status status = write_back_one(staged, error);
    if (status == GUF_OK) continue;
    // The stream is internal, so the error must not contain the number of the failed launch.
    if (borrowed_.get() != nullptr) backend::remove_launch_number(error);
    return status;
  }
  return GUF_OK;
}

guf_status Temporaries::write_back_one(const Staged &staged, guf_error *error) {
  if (staged.to_host) return write_to_host(staged, error);
  if (call_.has_where && staged.ncore != kUnmasked) return write_back_masked(staged, error);
  return memory::convert(*call_.device, call_.stream, staged.to, staged.from, error);
}

guf_status Temporaries::write_to_host(const Staged &staged, guf_error *error) {
  backend::Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  if (call_.has_where && staged.ncore != kUnmasked)
    return write_to_host_masked(staged, *cpu, error);
  return memory::transfer({staged.to, cpu}, {staged.from, call_.device}, call_.stream, error);
}

// Returns whether an output in host memory shares memory with the mask. If so, the device's copy of
// the mask must be used, because write-backs change the original mask but not the copy.
bool Temporaries::writes_original_mask() const {
  const auto meets = [this](const Staged &staged) {
    return staged.to_host && array::shares_memory(staged.to.layout, original_mask_.layout);
  };
  return (original_mask_.flags & op::kScalar) == 0 &&
         std::any_of(staged_.begin(), staged_.end(), meets);
}

// Copies only the selected elements back to the host, because the elements that the mask excludes
// were never copied to the device.
guf_status Temporaries::write_to_host_masked(const Staged &staged, backend::Device &cpu,
                                             guf_error *error) {
  const array::Layout &like = staged.to.layout;
  base::Ref<array::Array> results, mask;
  const auto copy_to_host = [&](const memory::CopyOperand &from, guf_dtype dtype,
                                const int64_t *shape, base::Ref<array::Array> *out) {
    GUF_TRY(
        memory::allocate(cpu, dtype, from.layout.ndim, shape, nullptr, GUF_ORDER_C, out, error));
    return memory::transfer(memory::endpoint_of(**out, cpu), {from, call_.device}, call_.stream,
                            error);
  };
  GUF_TRY(copy_to_host(staged.from, like.dtype, like.shape, &results));
  auto host_call = std::make_unique<op::CallView>();
  host_call->args = call_.args;
  host_call->stream = nullptr;
  host_call->device = &cpu;
  host_call->where = original_mask_;
  if ((original_mask_.flags & op::kDeviceMemory) != 0 || writes_original_mask()) {
    GUF_TRY(copy_to_host(as_copy_operand(call_.where), GUF_BOOL, call_.where.layout.shape, &mask));
    point_at(mask, &host_call->where);
  }
  if (call_.stream != nullptr) backend::wait_quietly(*call_.stream);
  MaskedCopy copy;
  GUF_TRY(copy.prepare(*host_call, staged.to, {results->layout(), false}, staged.ncore, error));
  return copy.run(error);
}

// Copies only the selected elements, because the write-back of an earlier output may have changed
// the excluded elements after the copy was made.
guf_status Temporaries::write_back_masked(const Staged &staged, guf_error *error) {
  if (staged.cast.layout.address != staged.from.layout.address) {
    GUF_TRY(memory::convert(*call_.device, call_.stream, staged.cast, staged.from, error));
  }
  MaskedCopy copy;
  GUF_TRY(copy.prepare(call_, staged.to, staged.cast, staged.ncore, error));
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
  Staged staged = {as_copy_operand(to), as_copy_operand(from), as_copy_operand(from), ncore,
                   needs_transfer(call_, to)};
  if (call_.has_where && !staged.to_host) {
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
  if (call_.stream == nullptr || retained_) return;
  // After a failure, queued work may still use the arrays that are freed here.
  backend::wait_quietly(*call_.stream);
}

void Temporaries::retain_until_done() {
  if (call_.stream == nullptr) return;
  std::vector<base::Ref<base::Object>> objects;
  const auto share = [&](array::Array *array) {
    if (array != nullptr) objects.push_back(base::Ref<base::Object>::share(array));
  };
  for (int32_t i = 0; i < call_.noperands + call_.nseparate; ++i) share(call_.operand[i].array);
  if (call_.has_where) share(call_.where.array);
  // The ufunc retains the code of its loops and the objects that the loops own.
  objects.push_back(base::Ref<base::Object>::share(call_.ufunc));
  for (const base::Ref<array::Array> &array : kept_) share(array.get());
  backend::retain_until_done(*call_.stream, std::move(objects));
  retained_ = true;
}

}  // namespace gufunc::call
