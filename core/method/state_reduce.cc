// SPDX-License-Identifier: Apache-2.0
// The launches of a reduction with a user-defined accumulator.
#include "core/method/state_reduce.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/checked.h"
#include "core/call/pipeline.h"
#include "core/call/requested_fp_flags.h"
#include "core/call/temporaries.h"
#include "core/memory/array_ops.h"
#include "core/memory/transfer.h"
#include "core/method/many_reduced_axes.h"
#include "core/method/result.h"
#include "core/method/state_decide.h"
#include "core/op/state_fold.h"
#include "core/plugin/find_device.h"

namespace gufunc::method {
namespace {

constexpr int64_t kLeaf = GUF_LEAF_SIZE;

// A dimension that follows the kept dimensions of an operand.
struct More {
  int64_t extent, stride;
};

// The memory of an operand, with its strides along the kept dimensions.
struct OperandMemory {
  guf_dtype dtype;
  uint64_t address;
  uint32_t flags;
  backend::Device *device;
  array::Array *array;
  int64_t stride[GUF_MAX_NDIM];  // indexed by kept dimension
  int64_t fold_stride;           // stride between consecutive reduced elements in C order
};

class StateLaunches {
 public:
  StateLaunches(FoldView &view, StateResults &results, const StateDecision &decision,
                guf_error *error)
      : view_(view), results_(results), decision_(decision), arrays_(view.call), failure_(error) {}

  guf_status run(guf_operand *outputs, guf_error *error);

 private:
  bool line_up(const op::OperandView &operand, OperandMemory *out) const;
  guf_status find_grounds(guf_error *error);
  guf_status allocate(guf_error *error);
  guf_status number_leaves(array::Array &numbers, guf_error *error);
  guf_status make_mask(guf_error *error);
  guf_status make_states(guf_error *error);
  guf_status make_leaves(int64_t count, int64_t length, int64_t from);
  guf_status merge_states();
  guf_status make_results(guf_error *error);
  void put_number(int64_t number);
  template <size_t N>
  void put(int32_t i, const OperandMemory &ground, int64_t offset, const More (&more)[N]) {
    static_assert(kMaxKept + N <= GUF_MAX_NDIM);
    put_dimensions(i, ground, offset, more);
  }
  void put_dimensions(int32_t i, const OperandMemory &ground, int64_t offset,
                      std::span<const More> more);
  guf_status launch(op::Ufunc &ufunc, const guf_dtype *signature);

  int64_t leaves() const {
    const int64_t full = decision_.elements / kLeaf;
    return std::max<int64_t>(decision_.elements % kLeaf == 0 ? full : full + 1, 1);
  }
  bool folded(int32_t axis) const { return decision_.folded.test(static_cast<size_t>(axis)); }
  const array::Layout &input() const { return view_.call.operand[kInput].layout; }

  FoldView &view_;
  StateResults &results_;
  const StateDecision &decision_;
  call::Temporaries arrays_;
  call::FpFailure failure_;
  OperandMemory elements_, mask_;
  array::Array *numbers_ = nullptr;  // index of the first element of each full base block
  std::vector<OperandMemory> states_, result_memory_;  // the accumulators; the results
  int32_t nkept_ = 0;
  int64_t kept_[GUF_MAX_NDIM];
  op::CallView call_;  // the call of the current step
  guf_call_args args_;
  int64_t shapes_[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
};

OperandMemory ground_of(const op::OperandView &operand) {
  OperandMemory ground;
  ground.dtype = operand.layout.dtype;
  ground.address = operand.layout.address;
  ground.flags = operand.flags & (op::kSwapped | op::kReadOnly);
  ground.device = operand.device;
  ground.array = operand.array;
  ground.fold_stride = 0;
  return ground;
}

// Computes the strides along the kept dimensions and the single stride of the reduced elements.
// Returns false if there is no such single stride.
bool StateLaunches::line_up(const op::OperandView &operand, OperandMemory *out) const {
  *out = ground_of(operand);
  const array::Layout &own = operand.layout;  // the mask may have fewer axes, and be broadcast
  int32_t kept = 0;
  for (int32_t axis = 0; axis < input().ndim; ++axis) {
    if (folded(axis)) continue;
    const int32_t k = axis - (input().ndim - own.ndim);
    out->stride[kept++] = k < 0 || own.shape[k] == 1 ? 0 : own.strides[k];
  }
  return find_fold_stride(own, input(), decision_.folded, &out->fold_stride);
}

guf_status StateLaunches::find_grounds(guf_error *error) {
  op::CallView &call = view_.call;
  const auto find = [&] {
    bool straight = line_up(call.operand[kInput], &elements_);
    if (call.has_where) straight = line_up(call.where, &mask_) && straight;
    return straight || decision_.elements == 0;
  };
  if (find()) return GUF_OK;
  GUF_TRY(make_reduced_axes_contiguous(call, decision_.folded, &arrays_, error));
  find();
  return GUF_OK;
}

// Allocates the accumulators, whose shape is [kept axes..., base blocks], and the missing results.
guf_status StateLaunches::allocate(guf_error *error) {
  GUF_TRY(arrays_.check_capture(error));
  op::CallView &call = view_.call;
  for (int32_t axis = 0; axis < input().ndim; ++axis) {
    if (folded(axis)) continue;
    if (nkept_ == kMaxKept) {
      return base::fail(error, GUF_E_INTERNAL, kInput, base::kNone,
                        "expected at most %d kept axes, got more", kMaxKept);
    }
    kept_[nkept_++] = input().shape[axis];
  }
  int64_t shape[GUF_MAX_NDIM];
  std::copy_n(kept_, nkept_, shape);
  shape[nkept_] = leaves();
  for (int32_t k = 0; k < decision_.nstates; ++k) {
    base::Ref<array::Array> array;
    GUF_TRY(memory::allocate(*call.device, decision_.state[k], nkept_ + 1, shape, nullptr,
                             GUF_ORDER_C, &array, error));
    op::OperandView operand;
    call::point_at(array, &operand);
    states_.push_back(ground_of(operand));
    std::copy_n(operand.layout.strides, nkept_, states_.back().stride);
    arrays_.keep(std::move(array));
  }
  int64_t extents[GUF_MAX_NDIM];
  for (int32_t axis = 0; axis < input().ndim; ++axis)
    extents[axis] = folded(axis) ? 1 : input().shape[axis];
  for (int32_t k = 0; k < results_.count; ++k) {
    op::OperandView &result = results_.result[k];
    if (op::is_missing(result)) {
      call.operand[kOutput] = result;
      GUF_TRY(allocate_result(view_, decision_.axes, extents, kNoAxis, k, &arrays_, error));
      result = call.operand[kOutput];
    } else if (call.stream != nullptr && result.array != nullptr) {
      arrays_.keep(base::Ref<array::Array>::share(result.array));
    }
    GUF_TRY(arrays_.transfer_output(&result, false, call::Temporaries::kUnmasked, error));
    result_memory_.push_back(ground_of(result));
    int32_t kept = 0;
    for (int32_t axis = 0; axis < input().ndim; ++axis) {
      if (folded(axis)) continue;
      result_memory_.back().stride[kept++] = result.layout.strides[decision_.axes.of_input[axis]];
    }
  }
  return GUF_OK;
}

void StateLaunches::put_dimensions(int32_t i, const OperandMemory &ground, int64_t offset,
                                   std::span<const More> more) {
  op::OperandView &operand = call_.operand[i];
  int64_t *const shape = shapes_[i];
  int64_t *const strides = call_.stride_buffer[i];
  std::copy_n(kept_, nkept_, shape);
  std::copy_n(ground.stride, nkept_, strides);
  int32_t ndim = nkept_;
  for (const More &dim : more) {
    shape[ndim] = dim.extent;
    strides[ndim++] = dim.stride;
  }
  operand.kind = GUF_OPERAND_TENSOR;
  operand.layout = {ground.dtype, ndim, shape, strides,
                    ground.address + static_cast<uint64_t>(offset)};
  operand.span = array::span_of(operand.layout);
  operand.flags = ground.flags;
  operand.device = ground.device;
  operand.array = ground.array;
}

// Sets the index operand of the leaf to a 0-d int64 scalar.
void StateLaunches::put_number(int64_t number) {
  op::OperandView &operand = call_.operand[op::kLeafFirst];
  operand.kind = GUF_OPERAND_SCALAR;
  operand.value[0] = static_cast<uint64_t>(number);
  operand.value[1] = 0;
  operand.layout = {GUF_I64, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(operand.value)};
  operand.span = {0, 0};
  operand.flags = op::kScalar;
  operand.device = nullptr;
  operand.array = nullptr;
}

guf_status StateLaunches::launch(op::Ufunc &ufunc, const guf_dtype *signature) {
  args_ = {};
  args_.struct_size = sizeof args_;
  args_.options.threads = view_.args.options.threads;
  args_.options.fp_flags = view_.args.options.fp_flags;
  args_.options.fp_report = view_.args.options.fp_report;
  args_.options.fp_fail = view_.args.options.fp_fail;
  args_.signature = signature;
  args_.nsignature = signature == nullptr ? 0 : ufunc.noperands();
  call_.ufunc = &ufunc;
  call_.noperands = ufunc.noperands();
  call_.nseparate = 0;
  call_.has_where = false;
  call_.args = &args_;
  call_.casting = GUF_CASTING_UNSAFE;
  call_.stream = view_.call.stream;
  call_.device = view_.call.device;
  return failure_.keep(call::call(call_, nullptr, failure_.error()));
}

// Returns a distance in bytes modulo 2^64, as for addresses, because the distance
// to the end of an operand may exceed int64.
int64_t distance(int64_t step, int64_t count) {
  return static_cast<int64_t>(base::offset_of(step, count));
}

// Launches the leaf ufunc on `count` groups of `length` elements each, starting at element `from`.
// Each group produces one accumulator. Byte offsets into the array of accumulators cannot overflow,
// because memory::allocate has checked the size of the array.
guf_status StateLaunches::make_leaves(int64_t count, int64_t length, int64_t from) {
  op::Ufunc &leaf = *view_.call.ufunc;
  const auto put_folded = [&](int32_t i, const OperandMemory &ground) {
    const int64_t step = ground.fold_stride;
    put(i, ground, distance(step, from), {{count, distance(step, length)}, {length, step}});
  };
  put_folded(op::kLeafElements, elements_);
  if (leaf.nin() > op::kLeafFirst) {
    put_number(from);
    if (count > 1) {
      op::OperandView &number = call_.operand[op::kLeafFirst];
      call::point_at(base::Ref<array::Array>::share(numbers_), &number);
      number.kind = GUF_OPERAND_TENSOR;
    }
  }
  if (leaf.nin() > op::kLeafMask) {
    put_folded(op::kLeafMask, mask_);
  }
  for (int32_t k = 0; k < decision_.nstates; ++k) {
    const auto size = static_cast<int64_t>(dtype::itemsize(decision_.state[k]));
    put(leaf.nin() + k, states_[static_cast<size_t>(k)], from / kLeaf * size, {{count, size}});
  }
  guf_dtype signature[GUF_MAX_OPERANDS] = {view_.dtype};
  return launch(leaf, view_.dtype == 0 ? nullptr : signature);
}

// Fills `numbers` with 0, 128, 256, ... If the device has its own memory, the numbers are first
// written to host memory and then copied.
guf_status StateLaunches::number_leaves(array::Array &numbers, guf_error *error) {
  const backend::Device &device = *view_.call.device;
  const array::Layout &layout = numbers.layout();
  base::Ref<array::Array> here = base::Ref<array::Array>::share(&numbers);
  backend::Device *cpu = nullptr;
  if (!device.host_memory) {
    GUF_TRY(plugin::cpu_device(&cpu, error));
    GUF_TRY(memory::allocate(*cpu, GUF_I64, 1, layout.shape, nullptr, GUF_ORDER_C, &here, error));
  }
  auto *const to = reinterpret_cast<int64_t *>(here->layout().address);
  for (int64_t k = 0; k < layout.shape[0]; ++k) to[k] = k * kLeaf;
  if (device.host_memory) return GUF_OK;
  backend::Device &far = *view_.call.device;
  const guf_status status =
      memory::transfer(memory::endpoint_of(numbers, far), memory::endpoint_of(*here, *cpu),
                       view_.call.stream, error);
  arrays_.keep(std::move(here));
  return status;
}

// Creates a mask that is true for all elements if the leaf ufunc has a mask operand but the call
// has no mask.
guf_status StateLaunches::make_mask(guf_error *error) {
  if (view_.call.has_where || view_.call.ufunc->nin() <= op::kLeafMask) return GUF_OK;
  base::Ref<array::Array> all;
  GUF_TRY(memory::allocate(*view_.call.device, GUF_BOOL, 0, nullptr, nullptr, GUF_ORDER_C, &all,
                           error));
  guf_operand truth = {};
  truth.kind = GUF_OPERAND_SCALAR;
  truth.dtype = GUF_BOOL;
  truth.value[0] = 1;
  GUF_TRY(memory::fill(*all, truth, view_.call.stream, error));
  op::OperandView operand;
  call::point_at(all, &operand);
  mask_ = ground_of(operand);
  std::fill_n(mask_.stride, nkept_, 0);
  arrays_.keep(std::move(all));
  return GUF_OK;
}

guf_status StateLaunches::make_states(guf_error *error) {
  GUF_TRY(make_mask(error));
  const int64_t full = decision_.elements / kLeaf, rest = decision_.elements % kLeaf;
  if (full > 1 && view_.call.ufunc->nin() > op::kLeafFirst) {
    base::Ref<array::Array> numbers;
    GUF_TRY(memory::allocate(*view_.call.device, GUF_I64, 1, &full, nullptr, GUF_ORDER_C, &numbers,
                             error));
    GUF_TRY(number_leaves(*numbers, error));
    numbers_ = numbers.get();
    arrays_.keep(std::move(numbers));
  }
  if (full > 0) GUF_TRY(make_leaves(full, kLeaf, 0));
  return rest > 0 || full == 0 ? make_leaves(1, rest, full * kLeaf) : GUF_OK;
}

// Merges neighbouring accumulators level by level, in place: the result of each pair
// replaces the left accumulator. If the number of accumulators is odd, the last accumulator is
// unchanged, and the next level reads it at the same position. The steps cannot overflow, because
// they are less than twice the size of the array.
guf_status StateLaunches::merge_states() {
  op::Ufunc &merge = *view_.call.ufunc->state_fold()->merge;
  const int32_t n = decision_.nstates;
  for (int64_t apart = 1; apart < leaves(); apart *= 2) {
    const int64_t pairs = ((leaves() + apart - 1) / apart) / 2;
    for (int32_t k = 0; k < n; ++k) {
      const OperandMemory &state = states_[static_cast<size_t>(k)];
      const int64_t step = apart * static_cast<int64_t>(dtype::itemsize(decision_.state[k]));
      put(k, state, 0, {{pairs, 2 * step}});
      put(n + k, state, step, {{pairs, 2 * step}});
      put(2 * n + k, state, 0, {{pairs, 2 * step}});
    }
    GUF_TRY(launch(merge, nullptr));
  }
  return GUF_OK;
}

guf_status StateLaunches::make_results(guf_error *error) {
  const base::Ref<op::Ufunc> &finish = view_.call.ufunc->state_fold()->finish;
  const int32_t n = decision_.nstates;
  for (int32_t k = 0; k < n; ++k) put_dimensions(k, states_[static_cast<size_t>(k)], 0, {});
  for (int32_t k = 0; k < results_.count; ++k)
    put_dimensions(n + k, result_memory_[static_cast<size_t>(k)], 0, {});
  if (finish) return launch(*finish, nullptr);
  for (int32_t k = 0; k < n; ++k) {
    GUF_TRY(memory::convert(*view_.call.device, view_.call.stream,
                            call::as_copy_operand(call_.operand[n + k]),
                            call::as_copy_operand(call_.operand[k]), error));
  }
  return GUF_OK;
}

guf_status StateLaunches::run(guf_operand *outputs, guf_error *error) {
  op::CallView &call = view_.call;
  GUF_TRY(arrays_.open(error));
  GUF_TRY(allocate(error));  // the layout of results depends on the original input
  GUF_TRY(arrays_.transfer_input(&call.operand[kInput], error));
  if (call.has_where) GUF_TRY(arrays_.transfer_input(&call.where, error));
  if (needs_device_scalars(call)) GUF_TRY(arrays_.copy_scalars_to_device(error));
  GUF_TRY(find_grounds(error));
  if (std::find(kept_, kept_ + nkept_, 0) == kept_ + nkept_) {
    GUF_TRY(make_states(error));
    GUF_TRY(merge_states());
    GUF_TRY(make_results(error));
  }
  const guf_status status = finish_fold(failure_.status(), &arrays_, error);
  if (status == GUF_OK) arrays_.publish(outputs);
  return status;
}

}  // namespace

guf_status reduce_states(FoldView &view, StateResults &results, guf_operand *outputs,
                         guf_error *error) {
  StateDecision decision;
  GUF_TRY(decide_states(view, results, &decision, error));
  backend::ErrorRecord record(error);
  return StateLaunches(view, results, decision, record.get()).run(outputs, record.get());
}

}  // namespace gufunc::method
