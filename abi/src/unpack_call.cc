// SPDX-License-Identifier: Apache-2.0
// C API layer of calls: fills the core's view of a call from guf_call_args.
#include "abi/src/unpack_call.h"

#include "abi/src/capi.h"
#include "abi/src/handles.h"
#include "core/base/struct_size.h"
#include "core/validate/validate_call.h"

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

guf_status unpack_tensor(const guf_operand &in, int32_t index, int64_t *stride_buffer,
                         op::OperandView *out, guf_error *error) {
  GUF_TRY(need(in.tensor, "operand.tensor", error));
  guf_tensor buffer;
  const guf_tensor *tensor = nullptr;
  const guf_status status = base::read_struct(in.tensor, "operand.tensor", &buffer, &tensor, error);
  if (__builtin_expect(status != GUF_OK, 0)) {
    if (error != nullptr) error->argument = index;
    return status;
  }
  GUF_TRY(validate::check_tensor(*tensor, index, stride_buffer, &out->layout, error));
  out->span = array::span_of(out->layout);
  out->flags =
      (tensor->flags & GUF_TENSOR_READ_ONLY) != 0 ? static_cast<uint32_t>(op::kReadOnly) : 0U;
  if ((tensor->flags & GUF_TENSOR_SWAPPED) != 0) out->flags |= op::kSwapped;
  out->device = nullptr;
  out->array = nullptr;
  if (tensor->device != nullptr)
    GUF_TRY(need_device(tensor->device, "tensor.device", &out->device, error));
  return GUF_OK;
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

}  // namespace

guf_status unpack_operand(const guf_operand &in, int32_t index, bool is_input,
                          int64_t *stride_buffer, op::OperandView *out, guf_error *error) {
  if (__builtin_expect((in.flags | in.reserved) != 0, 0)) {
    return base::fail(error, GUF_E_ARG, index, kNone,
                      "argument %d: operand.flags and operand.reserved must be 0", index);
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
                          "are elements of "
                          "arrays only",
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

}  // namespace gufunc::capi
