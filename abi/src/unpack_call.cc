// SPDX-License-Identifier: Apache-2.0
// C API layer of calls and methods: fills the core's views from the arguments.
//
// In error messages of methods, the reduced operand has number 1 and the result number 2, which are
// their positions in the loop X, X -> X. The mask or the indices have number 3, and the initial
// value has number 4. For `at`, 0 is the array, 1 is the operand, and higher numbers are the
// indices.
#include "abi/src/unpack_call.h"

#include "abi/src/capi.h"
#include "abi/src/handles.h"
#include "core/base/struct_size.h"
#include "core/op/state_reduction.h"
#include "core/validate/validate_call.h"

// The first version of guf_reduce_args ended before `parameters`.
template <>
inline constexpr uint32_t gufunc::base::kFirstSize<guf_reduce_args> =
    offsetof(guf_reduce_args, parameters);

namespace gufunc::capi {
namespace {

using base::kNone;

guf_status unpack_array(const guf_operand &in, op::OperandView *out, guf_error *error) {
  array::Array *array = nullptr;
  GUF_TRY(base::find_object(in.array, "operand.array", &array, error));
  out->layout = array->layout();
  out->span = array->span();
  out->flags =
      (array->flags() & GUF_ARRAY_READ_ONLY) != 0 ? static_cast<uint32_t>(op::kReadOnly) : 0U;
  if ((array->flags() & GUF_ARRAY_SWAPPED) != 0) out->flags |= op::kSwapped;
  out->device = array->device();
  out->array = array;
  return GUF_OK;
}

// Adds the index of an operand to an error that has already been written.
[[gnu::cold]] guf_status at_operand(int32_t index, guf_status status, guf_error *error) {
  if (error != nullptr) error->argument = index;
  return status;
}

guf_status unpack_tensor(const guf_operand &in, int32_t index, int64_t *stride_buffer,
                         op::OperandView *out, guf_error *error) {
  guf_tensor buffer;
  const guf_tensor *tensor = nullptr;
  const guf_status status = base::read_struct(in.tensor, "operand.tensor", &buffer, &tensor, error);
  if (__builtin_expect(status != GUF_OK, 0)) return at_operand(index, status, error);
  GUF_TRY(validate::check_tensor(*tensor, index, stride_buffer, &out->layout, error));
  out->span = array::span_of(out->layout);
  out->flags =
      (tensor->flags & GUF_TENSOR_READ_ONLY) != 0 ? static_cast<uint32_t>(op::kReadOnly) : 0U;
  if ((tensor->flags & GUF_TENSOR_SWAPPED) != 0) out->flags |= op::kSwapped;
  out->device = nullptr;
  out->array = nullptr;
  if (tensor->device == nullptr) return GUF_OK;
  const guf_status found = need_device(tensor->device, "tensor.device", &out->device, error);
  return __builtin_expect(found == GUF_OK, 1) ? GUF_OK : at_operand(index, found, error);
}

void unpack_value(const guf_operand &in, op::OperandView *out) {
  out->value[0] = in.value[0];
  out->value[1] = in.value[1];
  out->layout = {in.dtype, 0, nullptr, nullptr, reinterpret_cast<uint64_t>(out->value)};
  out->span = {0, 0};
  out->flags = op::kScalar;
  out->device = nullptr;
  out->array = nullptr;
}

[[gnu::cold, gnu::noinline]] guf_status fail_kind(const guf_operand &in, int32_t index,
                                                  guf_error *error) {
  return base::fail(error, GUF_E_ARG, index, kNone, "argument %d: kind %d is %s", index, in.kind,
                    in.kind == GUF_OPERAND_NONE ? "GUF_OPERAND_NONE; an input must be given"
                                                : "not a guf_operand_kind");
}

// Describes an output that the caller did not pass.
void mark_missing(op::OperandView *out) {
  out->kind = GUF_OPERAND_NONE;
  out->layout = {GUF_DTYPE_UNSPECIFIED, 0, nullptr, nullptr, 0};
  out->span = {0, 0};
  out->flags = op::kMissing;
  out->device = nullptr;
  out->array = nullptr;
}

guf_status unpack_outputs(const guf_call_args &args, op::CallView *out, guf_error *error) {
  const int32_t nin = out->ufunc->nin();
  out->nseparate = out->ufunc->nout() == 0 ? args.noutputs : 0;
  const int32_t count = out->ufunc->nout() == 0 ? args.noutputs : out->ufunc->nout();
  if (nin + count > GUF_MAX_OPERANDS) {
    return base::fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                      "inputs and separate outputs: expected at most %d in all",
                      static_cast<int>(GUF_MAX_OPERANDS));
  }
  for (int32_t k = 0; k < count; ++k) {
    op::OperandView *const operand = &out->operand[nin + k];
    if (args.noutputs == 0 || args.outputs[k].kind == GUF_OPERAND_NONE) {
      mark_missing(operand);
      continue;
    }
    GUF_TRY(unpack_operand(args.outputs[k], nin + k, false, out->stride_buffer[nin + k], operand,
                           error));
  }
  return GUF_OK;
}

guf_status unpack_where(const guf_call_args &args, op::CallView *out, guf_error *error) {
  out->has_where = args.where != nullptr && args.where->kind != GUF_OPERAND_NONE;
  if (!out->has_where) return GUF_OK;
  const int32_t index = out->noperands;
  GUF_TRY(unpack_operand(*args.where, index, true, out->stride_buffer[GUF_MAX_OPERANDS],
                         &out->where, error));
  if (out->where.kind <= GUF_OPERAND_SCALAR) return GUF_OK;
  return base::fail(error, GUF_E_CASTING, index, kNone,
                    "Cannot cast array data to dtype('bool') according to the rule 'safe'; where: "
                    "expected bool, got a weak scalar");
}

using validate::fail_value;

guf_status check_dtype(guf_dtype dtype, guf_error *error) {
  if (dtype == 0 || dtype::valid(dtype)) return GUF_OK;
  return base::fail(error, GUF_E_DTYPE, kNone, kNone, "args->dtype: 0x%08x is not a dtype", dtype);
}

guf_status check_order(int32_t order, guf_error *error) {
  if (order >= GUF_ORDER_KEEP && order <= GUF_ORDER_ANY) return GUF_OK;
  return fail_value("order", "a guf_order", order, error);
}

// Unpacks the arguments that all methods have.
guf_status unpack_common(const guf_call_options &options, op::CallView *call, guf_call_args *args,
                         guf_error *error) {
  GUF_TRY(unpack_options(options, call, error));
  GUF_TRY(validate::check_options(options, error));
  *args = {};
  args->struct_size = sizeof *args;
  args->options = options;
  call->args = args;
  call->casting = GUF_CASTING_UNSAFE;
  call->nseparate = 0;
  call->has_where = false;
  return GUF_OK;
}

guf_status unpack_output(guf_operand *output, op::CallView *call, guf_error *error) {
  GUF_TRY(need(output, "args->output", error));
  return unpack_operand(*output, method::kOutput, false, call->stride_buffer[method::kOutput],
                        &call->operand[method::kOutput], error);
}

guf_status unpack_initial(const guf_operand *initial, method::ReduceView *out, guf_error *error) {
  out->initial_kind = method::Initial::kIdentity;
  if (initial == nullptr) return GUF_OK;
  out->initial_kind = method::Initial::kNone;
  if (initial->kind == GUF_OPERAND_NONE) return GUF_OK;
  out->initial_kind = method::Initial::kGiven;
  return unpack_operand(*initial, 4, true, out->initial_strides, &out->initial, error);
}

guf_status unpack_where(const guf_operand *where, op::CallView *call, guf_error *error) {
  if (where == nullptr || where->kind == GUF_OPERAND_NONE) return GUF_OK;
  GUF_TRY(
      unpack_operand(*where, 3, true, call->stride_buffer[GUF_MAX_OPERANDS], &call->where, error));
  call->has_where = true;
  if (call->where.kind <= GUF_OPERAND_SCALAR) return GUF_OK;
  return base::fail(error, GUF_E_CASTING, 3, kNone,
                    "Cannot cast array data to dtype('bool') according to the rule 'safe'; where: "
                    "expected bool, got a weak scalar");
}

guf_status check_axes(const guf_reduce_args &args, guf_error *error) {
  if (args.naxis < GUF_ALL_AXES || args.naxis > GUF_MAX_NDIM)
    return fail_value("naxis", "GUF_ALL_AXES or 0..64", args.naxis, error);
  if (args.naxis > 0 && args.axis == nullptr) return need(args.axis, "args->axis", error);
  return GUF_OK;
}

// Sets *out to the `count` results of a reduction, from args.output or args.outputs.
guf_status find_results(const guf_reduce_args &args, int32_t count, guf_operand **out,
                        guf_error *error) {
  if (args.outputs == nullptr && args.noutputs != 0) return need(nullptr, "args->outputs", error);
  if (args.outputs != nullptr && args.output != nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "args->output and args->outputs are both given, expected one of them");
  }
  *out = args.outputs == nullptr ? args.output : args.outputs;
  const int32_t found = args.outputs == nullptr ? 1 : args.noutputs;
  if (found == count) return need(*out, "args->output", error);
  return base::fail(error, GUF_E_ARG, kNone, kNone, "results: expected %d, got %d", count, found);
}

guf_status check_parameters(const guf_reduce_args &args, const op::Ufunc &ufunc, guf_error *error) {
  const op::StateReduction *const states = ufunc.state_reduction();
  const int32_t most = states == nullptr ? 0 : states->nparameters();
  if (args.reserved != 0) return fail_value("reserved", "0", args.reserved, error);
  if (args.nparameters < 0 || args.nparameters > most) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "args->nparameters: expected 0 to %d for the reduction of %s, got %d", most,
                      ufunc.full_name.c_str(), args.nparameters);
  }
  return args.nparameters == 0 ? GUF_OK : need(args.parameters, "args->parameters", error);
}

}  // namespace

guf_status unpack_operand(const guf_operand &in, int32_t index, bool is_input,
                          int64_t *stride_buffer, op::OperandView *out, guf_error *error) {
  if (__builtin_expect((in.flags | in.reserved) != 0, 0)) {
    return base::fail(
        error, GUF_E_ARG, index, kNone,
        "argument %d: operand.flags and operand.reserved: expected 0, got 0x%x and %u", index,
        in.flags, in.reserved);
  }
  out->kind = in.kind;
  switch (in.kind) {
    case GUF_OPERAND_ARRAY:
      return unpack_array(in, out, error);
    case GUF_OPERAND_TENSOR:
      return unpack_tensor(in, index, stride_buffer, out, error);
    case GUF_OPERAND_SCALAR:
      if (!dtype::valid(in.dtype)) {
        return base::fail(error, GUF_E_DTYPE, index, kNone, "argument %d: 0x%08x is not a dtype",
                          index, static_cast<unsigned>(in.dtype));
      }
      if (dtype::is_structured(in.dtype)) {
        return base::fail(error, GUF_E_DTYPE, index, kNone,
                          "argument %d is a scalar of the structured dtype '%s': structured dtypes "
                          "are elements of arrays only",
                          index, dtype::name(in.dtype));
      }
      unpack_value(in, out);
      return GUF_OK;
    case GUF_OPERAND_WEAK_INT:
    case GUF_OPERAND_WEAK_INT_HUGE:
    case GUF_OPERAND_WEAK_FLOAT:
    case GUF_OPERAND_WEAK_COMPLEX:
      unpack_value(in, out);
      return GUF_OK;
    case GUF_OPERAND_NONE:
      if (is_input) return fail_kind(in, index, error);
      mark_missing(out);
      return GUF_OK;
    default:
      return fail_kind(in, index, error);
  }
}

guf_status unpack_options(const guf_call_options &options, op::CallView *call, guf_error *error) {
  call->stream = nullptr;
  if (options.stream != nullptr)
    GUF_TRY(base::find_object(options.stream, "stream", &call->stream, error));
  call->device = nullptr;
  if (options.device == nullptr) return GUF_OK;
  GUF_TRY(need_device(options.device, "device", &call->device, error));
  const bool is_auto = reinterpret_cast<uint64_t>(options.device) != call->device->handle;
  if (is_auto) call->automatic = call->device;
  return GUF_OK;
}

guf_status unpack_call(guf_ufunc ufunc, const guf_call_args *args, guf_call_args *buffer,
                       op::CallView *out, guf_error *error) {
  op::Ufunc *found = nullptr;
  GUF_TRY(base::find_object(ufunc, "ufunc", &found, error));
  return unpack_call(*found, args, buffer, out, error);
}

guf_status unpack_call(op::Ufunc &ufunc, const guf_call_args *args, guf_call_args *buffer,
                       op::CallView *out, guf_error *error) {
  out->ufunc = &ufunc;
  GUF_TRY(base::read_struct(args, "args", buffer, &out->args, error));
  const guf_call_args &known = *out->args;
  GUF_TRY(validate::check_args(*out->ufunc, known, error));
  out->noperands = out->ufunc->noperands();
  out->casting = known.casting == GUF_CASTING_DEFAULT ? static_cast<int32_t>(GUF_CASTING_SAME_KIND)
                                                      : known.casting;
  GUF_TRY(unpack_options(known.options, out, error));
  for (int32_t i = 0; i < known.ninputs; ++i) {
    GUF_TRY(
        unpack_operand(known.inputs[i], i, true, out->stride_buffer[i], &out->operand[i], error));
  }
  GUF_TRY(unpack_outputs(known, out, error));
  return unpack_where(known, out, error);
}

guf_status unpack_results(const method::ReduceView &view, const guf_operand *results,
                          method::StateResults *out, guf_error *error) {
  out->count = view.call.ufunc->state_reduction()->nresults();
  for (int32_t k = 0; k < out->count; ++k) {
    GUF_TRY(unpack_operand(results[k], method::result_argument(k), false, out->strides[k],
                           &out->result[k], error));
  }
  out->nparameters = view.nparameters;
  for (int32_t k = 0; k < out->nparameters; ++k) {
    const int32_t index = method::parameter_argument(out->count, k);
    const guf_operand &parameter = view.parameters[k];
    if (parameter.kind == GUF_OPERAND_ARRAY || parameter.kind == GUF_OPERAND_TENSOR) {
      return base::fail(error, GUF_E_ARG, index, kNone,
                        "args->parameters[%d]: expected a scalar, got an array or a tensor", k);
    }
    GUF_TRY(unpack_operand(parameter, index, true, nullptr, &out->parameter[k], error));
  }
  return GUF_OK;
}

guf_status unpack_reduce(guf_ufunc ufunc, const guf_reduce_args *args, method::ReduceView *out,
                         guf_operand **out_output, guf_error *error) {
  op::CallView *const call = &out->call;
  guf_reduce_args buffer;
  const guf_reduce_args *known = nullptr;
  GUF_TRY(base::find_object(ufunc, "ufunc", &call->ufunc, error));
  GUF_TRY(base::read_struct(args, "args", &buffer, &known, error));
  GUF_TRY(unpack_common(known->options, call, &out->args, error));
  if ((known->flags & ~uint32_t{GUF_CALL_KEEPDIMS}) != 0)
    return fail_value("flags", "0 or GUF_CALL_KEEPDIMS", known->flags, error);
  GUF_TRY(check_order(known->order, error));
  GUF_TRY(check_dtype(known->dtype, error));
  GUF_TRY(check_axes(*known, error));
  GUF_TRY(need(known->input, "args->input", error));
  GUF_TRY(unpack_operand(*known->input, method::kInput, true, call->stride_buffer[method::kInput],
                         &call->operand[method::kInput], error));
  const op::StateReduction *const states = call->ufunc->state_reduction();
  GUF_TRY(find_results(*known, states == nullptr ? 1 : states->nresults(), out_output, error));
  if (states == nullptr) GUF_TRY(unpack_output(*out_output, call, error));
  GUF_TRY(check_parameters(*known, *call->ufunc, error));
  GUF_TRY(unpack_initial(known->initial, out, error));
  GUF_TRY(unpack_where(known->where, call, error));
  out->args.order = known->order;
  out->dtype = known->dtype;
  out->keepdims = (known->flags & GUF_CALL_KEEPDIMS) != 0;
  out->axis = known->axis;
  out->naxis = known->naxis;
  out->parameters = known->parameters;
  out->nparameters = known->nparameters;
  return GUF_OK;
}

guf_status unpack_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, bool with_indices,
                             method::ReduceView *out, guf_operand **out_output, guf_error *error) {
  op::CallView *const call = &out->call;
  guf_accumulate_args buffer;
  const guf_accumulate_args *known = nullptr;
  GUF_TRY(base::find_object(ufunc, "ufunc", &call->ufunc, error));
  GUF_TRY(base::read_struct(args, "args", &buffer, &known, error));
  GUF_TRY(unpack_common(known->options, call, &out->args, error));
  if (known->flags != 0) return fail_value("flags", "0", known->flags, error);
  GUF_TRY(check_order(known->order, error));
  GUF_TRY(check_dtype(known->dtype, error));
  GUF_TRY(need(known->input, "args->input", error));
  GUF_TRY(unpack_operand(*known->input, method::kInput, true, call->stride_buffer[method::kInput],
                         &call->operand[method::kInput], error));
  if (with_indices) {
    GUF_TRY(need(known->indices, "args->indices", error));
    GUF_TRY(unpack_operand(*known->indices, 3, true, out->indices_strides, &out->indices, error));
  } else if (known->indices != nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "args->indices must be NULL for accumulate");
  }
  GUF_TRY(unpack_output(known->output, call, error));
  out->args.order = known->order;
  out->dtype = known->dtype;
  out->keepdims = false;
  out->initial_kind = method::Initial::kNone;
  out->one_axis = known->axis;
  *out_output = known->output;
  return GUF_OK;
}

guf_status unpack_at(guf_ufunc ufunc, const guf_at_args *args, method::AtView *out,
                     guf_error *error) {
  op::CallView *const call = &out->call;
  guf_at_args buffer;
  const guf_at_args *known = nullptr;
  GUF_TRY(base::find_object(ufunc, "ufunc", &call->ufunc, error));
  GUF_TRY(base::read_struct(args, "args", &buffer, &known, error));
  GUF_TRY(unpack_common(known->options, call, &out->args, error));
  if (known->flags != 0) return fail_value("flags", "0", known->flags, error);
  if (known->reserved != 0) return fail_value("reserved", "0", known->reserved, error);
  if (known->nindices < 0 || known->nindices > GUF_MAX_NDIM)
    return fail_value("nindices", "0..64", known->nindices, error);
  if (known->nindices > 0) GUF_TRY(need(known->indices, "args->indices", error));
  GUF_TRY(need(known->array, "args->array", error));
  GUF_TRY(unpack_operand(*known->array, 0, true, call->stride_buffer[0], &out->array, error));
  out->has_operand = known->operand != nullptr && known->operand->kind != GUF_OPERAND_NONE;
  if (out->has_operand) {
    GUF_TRY(unpack_operand(*known->operand, 1, true, call->stride_buffer[1], &out->operand, error));
  }
  out->nindices = known->nindices;
  for (int32_t k = 0; k < known->nindices; ++k) {
    GUF_TRY(unpack_operand(known->indices[k], 2 + k, true, out->index_strides[k], &out->index[k],
                           error));
  }
  return GUF_OK;
}

}  // namespace gufunc::capi
