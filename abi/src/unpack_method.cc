// SPDX-License-Identifier: Apache-2.0
// C API layer of methods. In error messages, the reduced operand has number 1 and the result number
// 2, which are their positions in the loop X, X -> X. The mask or the indices have number 3, and
// the initial value has number 4. For `at`, 0 is the array, 1 is the operand, and higher numbers
// are the indices.
#include "abi/src/unpack_method.h"

#include "abi/src/capi.h"
#include "abi/src/handles.h"
#include "abi/src/unpack_call.h"
#include "core/base/struct_size.h"
#include "core/op/state_fold.h"
#include "core/validate/validate_call.h"

namespace gufunc::capi {
namespace {

using base::kNone;

using validate::fail_value;

guf_status check_dtype(guf_dtype dtype, guf_error *error) {
  if (dtype == 0 || dtype::valid(dtype)) return GUF_OK;
  return base::fail(error, GUF_E_DTYPE, kNone, kNone, "args->dtype: 0x%08x is not a data type",
                    dtype);
}

guf_status check_order(int32_t order, guf_error *error) {
  if (order >= GUF_ORDER_KEEP && order <= GUF_ORDER_ANY) return GUF_OK;
  return fail_value("order", order, error);
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

guf_status unpack_initial(const guf_operand *initial, method::FoldView *out, guf_error *error) {
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
    return fail_value("naxis", args.naxis, error);
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

}  // namespace

guf_status unpack_results(const op::Ufunc &ufunc, const guf_operand *results,
                          method::StateResults *out, guf_error *error) {
  out->count = ufunc.state_fold()->nresults();
  for (int32_t k = 0; k < out->count; ++k) {
    GUF_TRY(unpack_operand(results[k], method::result_argument(k), false, out->strides[k],
                           &out->result[k], error));
  }
  return GUF_OK;
}

guf_status unpack_reduce(guf_ufunc ufunc, const guf_reduce_args *args, method::FoldView *out,
                         guf_operand **out_output, guf_error *error) {
  op::CallView *const call = &out->call;
  guf_reduce_args buffer;
  const guf_reduce_args *known = nullptr;
  GUF_TRY(base::find_object(ufunc, "ufunc", &call->ufunc, error));
  GUF_TRY(base::read_struct(args, "args", &buffer, &known, error));
  GUF_TRY(unpack_common(known->options, call, &out->args, error));
  if ((known->flags & ~uint32_t{GUF_CALL_KEEPDIMS}) != 0)
    return fail_value("flags", known->flags, error);
  GUF_TRY(check_order(known->order, error));
  GUF_TRY(check_dtype(known->dtype, error));
  GUF_TRY(check_axes(*known, error));
  GUF_TRY(need(known->input, "args->input", error));
  GUF_TRY(unpack_operand(*known->input, method::kInput, true, call->stride_buffer[method::kInput],
                         &call->operand[method::kInput], error));
  const op::StateFold *const states = call->ufunc->state_fold();
  GUF_TRY(find_results(*known, states == nullptr ? 1 : states->nresults(), out_output, error));
  if (states == nullptr) GUF_TRY(unpack_output(*out_output, call, error));
  GUF_TRY(unpack_initial(known->initial, out, error));
  GUF_TRY(unpack_where(known->where, call, error));
  out->args.order = known->order;
  out->dtype = known->dtype;
  out->keepdims = (known->flags & GUF_CALL_KEEPDIMS) != 0;
  out->axis = known->axis;
  out->naxis = known->naxis;
  return GUF_OK;
}

guf_status unpack_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args, bool with_indices,
                             method::FoldView *out, guf_operand **out_output, guf_error *error) {
  op::CallView *const call = &out->call;
  guf_accumulate_args buffer;
  const guf_accumulate_args *known = nullptr;
  GUF_TRY(base::find_object(ufunc, "ufunc", &call->ufunc, error));
  GUF_TRY(base::read_struct(args, "args", &buffer, &known, error));
  GUF_TRY(unpack_common(known->options, call, &out->args, error));
  if (known->flags != 0) return fail_value("flags", known->flags, error);
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
  if (known->flags != 0) return fail_value("flags", known->flags, error);
  if (known->reserved != 0) return fail_value("reserved", known->reserved, error);
  if (known->nindices < 0 || known->nindices > GUF_MAX_NDIM)
    return fail_value("nindices", known->nindices, error);
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
