// SPDX-License-Identifier: Apache-2.0
// Decides the types, axes and shapes of a reduction with a user-defined accumulator, launches its
// steps, and describes it as text. All decisions are made before the first allocation.
// core/op/state_reduction.h explains the block, merge and finish ufuncs.
#include "core/method/state_reduce.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "core/array/overlap.h"
#include "core/base/checked.h"
#include "core/call/pipeline.h"
#include "core/call/placement.h"
#include "core/call/requested_fp_flags.h"
#include "core/call/temporaries.h"
#include "core/memory/array_ops.h"
#include "core/memory/transfer.h"
#include "core/method/decide.h"
#include "core/method/geometry.h"
#include "core/method/result.h"
#include "core/op/state_reduction.h"
#include "core/plan/plan_text.h"
#include "core/plugin/find_device.h"
#include "core/resolve/resolve.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::method {
namespace {

// The maximum number of kept axes. Two more axes are needed: the base blocks and their elements.
constexpr int32_t kMaxKept = GUF_MAX_NDIM - 2;

struct StateDecision {
  op::BlockInputs inputs;
  array::AxisSet reduced;
  ResultAxes axes;
  int64_t elements;                // number of elements per result
  resolve::Choice block_function;  // the loop of the block function
  int32_t nstates;
  guf_dtype state[GUF_MAX_OPERANDS];
  guf_dtype result[GUF_MAX_OPERANDS];  // dtypes of the results before their cast to the outputs
  const op::Loop *finish;              // nullptr if the accumulator is the result
};

using base::kNone;

// Sets an operand to a scalar.
void set_scalar(guf_dtype type, const uint64_t (&value)[2], op::OperandView *out) {
  out->kind = GUF_OPERAND_SCALAR;
  std::copy_n(value, 2, out->value);
  out->layout = {type, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(out->value)};
  out->span = {0, 0};
  out->flags = op::kScalar;
  out->device = nullptr;
  out->array = nullptr;
}

guf_status check_result(const op::OperandView &result, int32_t index, guf_error *error) {
  const int32_t argument = result_argument(index);
  if (op::is_missing(result)) return GUF_OK;
  if ((result.flags & op::kScalar) != 0) {
    return base::fail(error, GUF_E_ARG, argument, kNone,
                      "return arrays must be of ArrayType; argument %d is written: expected an "
                      "array or a tensor, got a scalar",
                      argument);
  }
  if ((result.flags & op::kReadOnly) != 0) {
    return base::fail(error, GUF_E_READ_ONLY, argument, kNone,
                      "output array is read-only; argument %d", argument);
  }
  if (array::overlaps_itself(result.layout)) {
    return base::fail(error, GUF_E_OVERLAP, argument, kNone,
                      "argument %d is written, and elements of it share memory with one another",
                      argument);
  }
  return GUF_OK;
}

guf_status prepare_states(ReduceView &view, const StateResults &results, guf_error *error) {
  op::CallView &call = view.call;
  call.noperands = 3;
  GUF_TRY(resolve::convert_to_default(&call.operand[kInput], kInput, error));
  call.operand[kLeft] = call.operand[kInput];
  if (call.has_where && call.where.layout.dtype != GUF_BOOL) {
    base::Text found;
    dtype::spell(call.where.layout.dtype, (call.where.flags & op::kSwapped) != 0, &found);
    return base::fail(error, GUF_E_CASTING, 3, kNone,
                      "Cannot cast array data from dtype('%s') to dtype('bool') according to the "
                      "rule 'safe'",
                      found.c_str());
  }
  for (int32_t k = 0; k < results.count; ++k) {
    GUF_TRY(check_result(results.result[k], k, error));
    call.operand[kOutput] = results.result[k];
    GUF_TRY(call::place(call, error));
  }
  return GUF_OK;
}

// Chooses the loop of a block, merge or finish function as for an ordinary call. `dtype` is the
// requested dtype of the ufunc's first operand, or 0.
guf_status choose_for(op::Ufunc &part, const guf_dtype *types, guf_dtype dtype,
                      resolve::Choice *out, guf_error *error) {
  op::CallView call;
  guf_call_args args = {};
  args.struct_size = sizeof args;
  guf_dtype signature[GUF_MAX_OPERANDS] = {dtype};
  if (dtype != 0) {
    args.signature = signature;
    args.nsignature = part.noperands();
  }
  call.ufunc = &part;
  call.noperands = part.noperands();
  call.nseparate = 0;
  call.has_where = false;
  call.args = &args;
  call.casting = GUF_CASTING_UNSAFE;
  for (int32_t i = 0; i < call.noperands; ++i) {
    op::OperandView &operand = call.operand[i];
    const bool input = i < part.nin();
    operand.kind = input ? GUF_OPERAND_TENSOR : GUF_OPERAND_NONE;
    operand.flags = input ? 0U : static_cast<uint32_t>(op::kMissing);
    operand.layout = {input ? types[i] : 0, 0, nullptr, nullptr, 0};
  }
  return resolve::choose(call, out, error);
}

// Finds the loop whose first `count` inputs have exactly these dtypes. For datetime types, the list
// of loops contains only types without a unit; the loop for a unit is created when it is looked up.
const op::Loop *exact_loop(op::Ufunc &ufunc, const guf_dtype *inputs, int32_t count) {
  const guf_dtype *const end = inputs + count;
  const auto fits = [&](const op::Loop *loop) { return std::equal(inputs, end, &loop->types[0]); };
  for (const op::Loop *const loop : ufunc.loops().loops) {
    if (fits(loop)) return loop;
  }
  if (!std::any_of(inputs, end, dtype::is_time)) return nullptr;
  for (const op::Loop *const loop : ufunc.loops().loops) {
    guf_dtype types[GUF_MAX_OPERANDS];  // the requested inputs, then inputs of this loop
    std::copy_n(&loop->types[0], ufunc.nin(), types);
    std::copy(inputs, end, types);
    resolve::Choice choice;
    if (choose_for(ufunc, types, 0, &choice, nullptr) == GUF_OK && fits(choice.loop))
      return choice.loop;
  }
  return nullptr;
}

guf_status find_loop(op::Ufunc &ufunc, const guf_dtype *inputs, int32_t count, const char *part,
                     const op::Loop **out, guf_error *error) {
  *out = exact_loop(ufunc, inputs, count);
  if (*out != nullptr) return GUF_OK;
  base::Text types;
  for (int32_t i = 0; i < count; ++i) {
    types.add("%s%s", i == 0 ? "" : ", ", dtype::name(inputs[i]));
  }
  return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                    "%s, the function to %s accumulators, has no loop for exactly %s",
                    ufunc.full_name.c_str(), part, types.c_str());
}

// Returns `result`, narrowed to the precision of the elements (GUF_FUNCTION_KEEPS_PRECISION).
guf_dtype in_precision_of(guf_dtype element, guf_dtype result) {
  const bool complex = element == GUF_C64 || element == GUF_C128;
  if (!complex && !dtype::is_real_float(element)) return result;
  const guf_dtype real = element == GUF_C64    ? guf_dtype{GUF_F32}
                         : element == GUF_C128 ? guf_dtype{GUF_F64}
                                               : element;
  if (result == GUF_F64) return real;
  return result == GUF_C128 && element == GUF_C64 ? guf_dtype{GUF_C64} : result;
}

guf_status resolve_types(const ReduceView &view, StateDecision *out, guf_error *error) {
  const op::Ufunc &block_function = *view.call.ufunc;
  const op::StateReduction &reduction = *block_function.state_reduction();
  out->inputs = op::block_inputs(block_function.signature);
  guf_dtype types[] = {view.call.operand[kInput].layout.dtype, 0, 0};
  if (out->inputs.first != kNone) types[out->inputs.first] = GUF_I64;
  if (out->inputs.mask != kNone) types[out->inputs.mask] = GUF_BOOL;
  GUF_TRY(choose_for(*view.call.ufunc, types, view.dtype, &out->block_function, error));
  out->nstates = block_function.nout();
  std::copy_n(out->block_function.loop->types.begin() + block_function.nin(), out->nstates,
              out->state);
  guf_dtype both[GUF_MAX_OPERANDS];
  std::copy_n(out->state, out->nstates, both);
  std::copy_n(out->state, out->nstates, both + out->nstates);
  const op::Loop *merge = nullptr;
  GUF_TRY(find_loop(*reduction.merge, both, 2 * out->nstates, "merge", &merge, error));
  if (!std::equal(out->state, out->state + out->nstates,
                  merge->types.begin() + reduction.merge->nin())) {
    return base::fail(error, GUF_E_NO_LOOP, kNone, kNone,
                      "%s returns accumulators of other types than it accepts",
                      reduction.merge->full_name.c_str());
  }
  std::copy_n(out->state, out->nstates, out->result);
  out->finish = nullptr;
  if (!reduction.finish) return GUF_OK;
  GUF_TRY(find_loop(*reduction.finish, out->state, out->nstates, "finish", &out->finish, error));
  std::copy_n(out->finish->types.begin() + reduction.finish->nin(), reduction.finish->nout(),
              out->result);
  return GUF_OK;
}

guf_status fail_parameter(int32_t index, const char *found, guf_dtype type, guf_error *error) {
  base::Text expected;
  dtype::spell(type, false, &expected);
  return base::fail(error, GUF_E_CASTING, index, kNone,
                    "Cannot cast %s to dtype('%s') according to the rule 'same_kind'; argument %d "
                    "is a parameter",
                    found, expected.c_str(), index);
}

// Converts a parameter to a scalar of the dtype.
guf_status convert_parameter(op::OperandView *parameter, int32_t index, guf_dtype type,
                             guf_error *error) {
  uint64_t value[2] = {0, 0};
  if (resolve::is_weak(*parameter)) {
    const bool is_real = !dtype::is_complex(type);
    if (is_real && parameter->kind == GUF_OPERAND_WEAK_COMPLEX)
      return fail_parameter(index, "a complex scalar", type, error);
    if (parameter->kind == GUF_OPERAND_WEAK_FLOAT && is_real && !dtype::is_real_float(type))
      return fail_parameter(index, "a float scalar", type, error);
    GUF_TRY(resolve::convert_named(parameter, index, type, error));
    std::memcpy(value, parameter->cast_value, sizeof value);
  } else {
    const array::Layout &layout = parameter->layout;
    if (!dtype::can_cast(layout.dtype, type, GUF_CASTING_SAME_KIND)) {
      base::Text found;
      found.add("array data from dtype('");
      dtype::spell(layout.dtype, false, &found);
      found.add("')");
      return fail_parameter(index, found.c_str(), type, error);
    }
    backend::Device *host = nullptr;
    GUF_TRY(plugin::cpu_device(&host, error));
    const memory::CopyOperand to = {{type, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(value)},
                                    false};
    GUF_TRY(memory::convert(*host, nullptr, to, {layout, false}, error));
  }
  set_scalar(type, value, parameter);
  return GUF_OK;
}

// Converts the parameters to the dtypes of the loop of finish. Omitted parameters become 0.
guf_status convert_parameters(const ReduceView &view, const StateDecision &decision,
                              StateResults *results, guf_error *error) {
  const int32_t count = view.call.ufunc->state_reduction()->nparameters();
  for (int32_t k = 0; k < count; ++k) {
    const guf_dtype type = decision.finish->types[static_cast<size_t>(decision.nstates + k)];
    const int32_t index = parameter_argument(results->count, k);
    if (dtype::is_structured(type)) {
      return base::fail(error, GUF_E_DTYPE, index, kNone,
                        "argument %d is a parameter: expected a number or a time, but it has the "
                        "structured dtype '%s' in the loop of %s",
                        index, dtype::name(type),
                        view.call.ufunc->state_reduction()->finish->full_name.c_str());
    }
    if (k >= results->nparameters) {
      const uint64_t zero[2] = {0, 0};
      set_scalar(type, zero, &results->parameter[k]);
      continue;
    }
    GUF_TRY(convert_parameter(&results->parameter[k], index, type, error));
  }
  results->nparameters = count;
  return GUF_OK;
}

guf_status count_elements(const array::Layout &input, StateDecision *out, guf_error *error) {
  uint64_t count = 1;
  bool empty = false;
  bool fits = true;
  for (int32_t axis = 0; axis < input.ndim; ++axis) {
    if (!out->reduced.test(static_cast<size_t>(axis))) continue;
    empty = empty || input.shape[axis] == 0;
    fits = fits && base::checked_mul(count, static_cast<uint64_t>(input.shape[axis]), &count) &&
           count <= INT64_MAX;
  }
  out->elements = empty ? 0 : static_cast<int64_t>(count);
  if (empty || fits) return GUF_OK;
  return base::fail(error, GUF_E_SHAPE, kInput, kNone,
                    "argument %d: too many elements along the reduced axes", kInput);
}

// Checks that there are elements to reduce. A block function accepts zero elements only if it
// declares GUF_FUNCTION_ACCEPTS_EMPTY.
guf_status check_elements(const ReduceView &view, const StateDecision &decision, guf_error *error) {
  const op::Ufunc &block_function = *view.call.ufunc;
  const bool accepts_empty = (block_function.flags & GUF_FUNCTION_ACCEPTS_EMPTY) != 0;
  if (view.initial_kind == Initial::kGiven) {
    return base::fail(
        error, GUF_E_UNSUPPORTED, 4, kNone,
        "reduction operation '%s' has a user-defined accumulator and does not accept 'initial'",
        block_function.name.c_str());
  }
  if (view.call.has_where && decision.inputs.mask == kNone) {
    return base::fail(error, GUF_E_UNSUPPORTED, 3, kNone,
                      "reduction operation '%s' does not accept a where mask: its block function "
                      "has no input for the mask",
                      block_function.name.c_str());
  }
  if (view.call.has_where && !accepts_empty) {
    return base::fail(
        error, GUF_E_VALUE, kNone, kNone,
        "reduction operation '%s' does not have an identity, so it does not accept a where mask",
        block_function.name.c_str());
  }
  return op::check_elements(block_function, decision.elements, error);
}

// Computes the stride of an operand when all reduced axes of `input` are treated as a single axis
// in C order. The operand may have fewer axes than `input` and may be broadcast. Returns false if
// there is no such stride; the caller must then copy the operand first.
bool find_reduced_stride(const array::Layout &own, const array::Layout &input,
                         const array::AxisSet &reduced, int64_t *out) {
  *out = 0;
  uint64_t count = 1;  // may wrap around if there are no elements
  bool straight = true;
  for (int32_t axis = input.ndim - 1; axis >= 0; --axis) {
    const int64_t extent = input.shape[axis];
    if (!reduced.test(static_cast<size_t>(axis)) || extent == 1) continue;
    const int32_t k = axis - (input.ndim - own.ndim);
    const int64_t stride = k < 0 || own.shape[k] == 1 ? 0 : own.strides[k];
    if (count == 1) *out = stride;
    const uint64_t expected = static_cast<uint64_t>(*out) * count;
    straight = straight && static_cast<uint64_t>(stride) == expected;
    count *= static_cast<uint64_t>(extent);
  }
  return straight;
}

// Makes the decisions, and sets the dtypes of missing results.
// Errors  as guf_reduce before a launch
guf_status decide_states(ReduceView &view, StateResults &results, StateDecision *out,
                         guf_error *error) {
  op::CallView &call = view.call;
  GUF_TRY(prepare_states(view, results, error));
  GUF_TRY(find_axes(view, &out->reduced, error));
  GUF_TRY(resolve_types(view, out, error));
  const array::Layout &input = call.operand[kInput].layout;
  const auto nkept = input.ndim - static_cast<int32_t>(out->reduced.count());
  if (nkept > kMaxKept) {
    return base::fail(error, GUF_E_SHAPE, kInput, kNone,
                      "a reduction with a user-defined accumulator keeps at most %d axes; got %d",
                      kMaxKept, nkept);
  }
  GUF_TRY(count_elements(input, out, error));
  find_reduced_axes(input.ndim, out->reduced, view.keepdims, &out->axes);
  GUF_TRY(convert_parameters(view, *out, &results, error));
  const bool keeps_precision = (call.ufunc->flags & GUF_FUNCTION_KEEPS_PRECISION) != 0;
  const guf_dtype element = out->block_function.loop->types[op::BlockInputs::kElements];
  for (int32_t k = 0; k < results.count; ++k) {
    op::OperandView &result = results.result[k];
    if (op::is_missing(result)) {
      const guf_dtype type = out->result[k];
      result.layout.dtype = keeps_precision ? in_precision_of(element, type) : type;
    }
    call.operand[kOutput] = result;
    GUF_TRY(check_reduced(view, out->reduced, out->axes, result_argument(k), error));
  }
  return check_elements(view, *out, error);
}

constexpr int64_t kBaseBlock = GUF_LEAF_SIZE;

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
  int64_t reduced_stride;        // stride between consecutive reduced elements in C order
};

class StateLaunches {
 public:
  StateLaunches(ReduceView &view, StateResults &results, const StateDecision &decision,
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
  guf_status launch_block_function(int64_t count, int64_t length, int64_t from);
  guf_status merge_states();
  guf_status make_results(guf_error *error);
  template <size_t N>
  void put(int32_t i, const OperandMemory &ground, int64_t offset, const More (&more)[N]) {
    static_assert(kMaxKept + N <= GUF_MAX_NDIM);
    put_dimensions(i, ground, offset, more);
  }
  void put_dimensions(int32_t i, const OperandMemory &ground, int64_t offset,
                      std::span<const More> more);
  guf_status launch(op::Ufunc &ufunc, const guf_dtype *signature);

  int64_t base_blocks() const {
    const int64_t full = decision_.elements / kBaseBlock;
    return std::max<int64_t>(decision_.elements % kBaseBlock == 0 ? full : full + 1, 1);
  }
  bool reduced(int32_t axis) const { return decision_.reduced.test(static_cast<size_t>(axis)); }
  const array::Layout &input() const { return view_.call.operand[kInput].layout; }

  ReduceView &view_;
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
  ground.reduced_stride = 0;
  return ground;
}

// Computes the strides along the kept dimensions and the single stride of the reduced elements.
// Returns false if there is no such single stride.
bool StateLaunches::line_up(const op::OperandView &operand, OperandMemory *out) const {
  *out = ground_of(operand);
  const array::Layout &own = operand.layout;  // the mask may have fewer axes, and be broadcast
  int32_t kept = 0;
  for (int32_t axis = 0; axis < input().ndim; ++axis) {
    if (reduced(axis)) continue;
    const int32_t k = axis - (input().ndim - own.ndim);
    out->stride[kept++] = k < 0 || own.shape[k] == 1 ? 0 : own.strides[k];
  }
  return find_reduced_stride(own, input(), decision_.reduced, &out->reduced_stride);
}

guf_status StateLaunches::find_grounds(guf_error *error) {
  op::CallView &call = view_.call;
  const auto find = [&] {
    bool straight = line_up(call.operand[kInput], &elements_);
    if (call.has_where) straight = line_up(call.where, &mask_) && straight;
    return straight || decision_.elements == 0;
  };
  if (find()) return GUF_OK;
  GUF_TRY(make_reduced_axes_contiguous(call, decision_.reduced, &arrays_, error));
  find();
  return GUF_OK;
}

// Allocates the accumulators, whose shape is [kept axes..., base blocks], and the missing results.
guf_status StateLaunches::allocate(guf_error *error) {
  GUF_TRY(arrays_.check_capture(error));
  op::CallView &call = view_.call;
  for (int32_t axis = 0; axis < input().ndim; ++axis) {
    if (reduced(axis)) continue;
    if (nkept_ == kMaxKept) {
      return base::fail(error, GUF_E_INTERNAL, kInput, base::kNone,
                        "expected at most %d kept axes, got more", kMaxKept);
    }
    kept_[nkept_++] = input().shape[axis];
  }
  int64_t shape[GUF_MAX_NDIM];
  std::copy_n(kept_, nkept_, shape);
  shape[nkept_] = base_blocks();
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
    extents[axis] = reduced(axis) ? 1 : input().shape[axis];
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
      if (reduced(axis)) continue;
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

// Launches the block function on `count` groups of `length` elements each, starting at element
// `from`. Each group produces one accumulator. Byte offsets into the array of accumulators cannot
// overflow, because memory::allocate has checked the size of the array.
guf_status StateLaunches::launch_block_function(int64_t count, int64_t length, int64_t from) {
  op::Ufunc &block_function = *view_.call.ufunc;
  const auto put_reduced = [&](int32_t i, const OperandMemory &ground) {
    const int64_t step = ground.reduced_stride;
    put(i, ground, distance(step, from), {{count, distance(step, length)}, {length, step}});
  };
  const op::BlockInputs &inputs = decision_.inputs;
  put_reduced(op::BlockInputs::kElements, elements_);
  if (inputs.first != kNone) {
    op::OperandView &number = call_.operand[inputs.first];
    const uint64_t value[2] = {static_cast<uint64_t>(from), 0};
    set_scalar(GUF_I64, value, &number);
    if (count > 1) {
      call::point_at(base::Ref<array::Array>::share(numbers_), &number);
      number.kind = GUF_OPERAND_TENSOR;
    }
  }
  if (inputs.mask != kNone && view_.call.has_where) put_reduced(inputs.mask, mask_);
  if (inputs.mask != kNone && !view_.call.has_where) {
    put(inputs.mask, mask_, 0, {{count, 0}, {length, mask_.reduced_stride}});
  }
  for (int32_t k = 0; k < decision_.nstates; ++k) {
    const auto size = static_cast<int64_t>(dtype::itemsize(decision_.state[k]));
    put(block_function.nin() + k, states_[static_cast<size_t>(k)], from / kBaseBlock * size,
        {{count, size}});
  }
  guf_dtype signature[GUF_MAX_OPERANDS] = {view_.dtype};
  return launch(block_function, view_.dtype == 0 ? nullptr : signature);
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
  for (int64_t k = 0; k < layout.shape[0]; ++k) to[k] = k * kBaseBlock;
  if (device.host_memory) return GUF_OK;
  backend::Device &far = *view_.call.device;
  const guf_status status =
      memory::transfer(memory::endpoint_of(numbers, far), memory::endpoint_of(*here, *cpu),
                       view_.call.stream, error);
  arrays_.keep(std::move(here));
  return status;
}

// Creates a mask that is true for all elements if the block function has a mask operand but the
// call has no mask. The mask has the length of a base block, because block functions are faster if
// the elements of the mask are contiguous.
guf_status StateLaunches::make_mask(guf_error *error) {
  if (view_.call.has_where || decision_.inputs.mask == kNone) return GUF_OK;
  base::Ref<array::Array> all;
  const int64_t length = std::min(decision_.elements, kBaseBlock);
  GUF_TRY(memory::allocate(*view_.call.device, GUF_BOOL, 1, &length, nullptr, GUF_ORDER_C, &all,
                           error));
  guf_operand truth = {};
  truth.kind = GUF_OPERAND_SCALAR;
  truth.dtype = GUF_BOOL;
  truth.value[0] = 1;
  GUF_TRY(memory::fill(*all, truth, view_.call.stream, error));
  op::OperandView operand;
  call::point_at(all, &operand);
  mask_ = ground_of(operand);
  mask_.reduced_stride = 1;
  std::fill_n(mask_.stride, nkept_, 0);
  arrays_.keep(std::move(all));
  return GUF_OK;
}

guf_status StateLaunches::make_states(guf_error *error) {
  GUF_TRY(make_mask(error));
  const int64_t full = decision_.elements / kBaseBlock, rest = decision_.elements % kBaseBlock;
  if (full > 1 && decision_.inputs.first != kNone) {
    base::Ref<array::Array> numbers;
    GUF_TRY(memory::allocate(*view_.call.device, GUF_I64, 1, &full, nullptr, GUF_ORDER_C, &numbers,
                             error));
    GUF_TRY(number_leaves(*numbers, error));
    numbers_ = numbers.get();
    arrays_.keep(std::move(numbers));
  }
  if (full > 0) GUF_TRY(launch_block_function(full, kBaseBlock, 0));
  return rest > 0 || full == 0 ? launch_block_function(1, rest, full * kBaseBlock) : GUF_OK;
}

// Merges neighbouring accumulators level by level, in place: the result of each pair
// replaces the left accumulator. If the number of accumulators is odd, the last accumulator is
// unchanged, and the next level reads it at the same position. The steps cannot overflow, because
// they are less than twice the size of the array.
guf_status StateLaunches::merge_states() {
  op::Ufunc &merge = *view_.call.ufunc->state_reduction()->merge;
  const int32_t n = decision_.nstates;
  for (int64_t apart = 1; apart < base_blocks(); apart *= 2) {
    const int64_t pairs = ((base_blocks() + apart - 1) / apart) / 2;
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
  const base::Ref<op::Ufunc> &finish = view_.call.ufunc->state_reduction()->finish;
  const int32_t n = decision_.nstates;
  for (int32_t k = 0; k < n; ++k) put_dimensions(k, states_[static_cast<size_t>(k)], 0, {});
  const int32_t parameters = results_.nparameters;
  for (int32_t k = 0; k < parameters; ++k) {
    const op::OperandView &parameter = results_.parameter[k];
    set_scalar(parameter.layout.dtype, parameter.value, &call_.operand[n + k]);
  }
  for (int32_t k = 0; k < results_.count; ++k)
    put_dimensions(n + parameters + k, result_memory_[static_cast<size_t>(k)], 0, {});
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

void describe_states(const ReduceView &view, const StateResults &results,
                     const StateDecision &decision, guf_resolution *out) {
  const array::Layout &input = view.call.operand[kInput].layout;
  out->loop = decision.block_function.index;
  out->noperands = 1 + results.count;
  out->loop_dtypes[0] = decision.block_function.loop->types[op::BlockInputs::kElements];
  out->dtypes[0] = input.dtype;
  for (int32_t k = 0; k < results.count; ++k) {
    out->loop_dtypes[1 + k] = decision.result[k];
    out->dtypes[1 + k] = results.result[k].layout.dtype;
    describe_result(input, decision.reduced, decision.axes, k, out);
  }
}

std::string describe_state(const StateDecision &decision) {
  std::string text = "(";
  for (int32_t k = 0; k < decision.nstates; ++k)
    text += (k > 0 ? ", " : "") + std::string(dtype::name(decision.state[k]));
  return text + ")";
}

}  // namespace

guf_status reduce_states(ReduceView &view, StateResults &results, guf_operand *outputs,
                         guf_error *error) {
  StateDecision decision;
  GUF_TRY(decide_states(view, results, &decision, error));
  backend::ErrorRecord record(error);
  return StateLaunches(view, results, decision, record.get()).run(outputs, record.get());
}

guf_status resolve_states(ReduceView &view, StateResults &results, guf_resolution *out,
                          guf_error *error) {
  StateDecision decision;
  GUF_TRY(decide_states(view, results, &decision, error));
  describe_states(view, results, decision, out);
  return GUF_OK;
}

guf_status explain_states(ReduceView &view, StateResults &results, std::string *out,
                          guf_error *error) {
  StateDecision decision;
  guf_resolution resolution = {};
  GUF_TRY(decide_states(view, results, &decision, error));
  describe_states(view, results, decision, &resolution);
  op::CallView &call = view.call;
  const op::StateReduction &reduction = *call.ufunc->state_reduction();
  *out = call.ufunc->full_name + ".reduce on " + call.device->spec + ": " +
         plan::describe_loop(call, decision.block_function) + "\n" + call::describe_auto(call);
  *out += plan::describe_operand(call, kInput, resolution.loop_dtypes[0]);
  const array::Layout &input = call.operand[kInput].layout;
  int64_t stride = 0;
  if (decision.elements != 0 &&
      (!find_reduced_stride(input, input, decision.reduced, &stride) ||
       (call.has_where &&
        !find_reduced_stride(call.where.layout, input, decision.reduced, &stride)))) {
    *out += call.has_where ? "copied first: argument 1 and the mask" : "copied first: argument 1";
    *out += ", as the reduced axes have no common stride\n";
  }
  for (int32_t k = 0; k < results.count; ++k) {
    *out += "result " + std::to_string(k) + ": " + dtype::name(resolution.dtypes[1 + k]) +
            ", shape " +
            plan::describe_list(resolution.output_shapes[k], resolution.output_ndims[k]) + "\n";
  }
  *out += "state " + describe_state(decision) + " of base blocks of " +
          std::to_string(GUF_LEAF_SIZE) +
          " elements in C order over the reduced axes, merged in pairs by " +
          reduction.merge->full_name;
  if (reduction.finish) *out += ", finished by " + reduction.finish->full_name;
  const int32_t count = reduction.nparameters();
  if (count > 0)
    *out += " with " + std::to_string(count) + (count == 1 ? " parameter" : " parameters");
  *out += "\n";
  return GUF_OK;
}

}  // namespace gufunc::method
