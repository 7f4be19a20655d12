// SPDX-License-Identifier: Apache-2.0
// C API layer of calls: guf_apply, guf_call and guf_call_chunked.
#include <gufunc/call.h>
#include <gufunc/chunks.h>

#include "abi/src/capi.h"
#include "abi/src/unpack_call.h"
#include "core/backend/backend.h"
#include "core/base/struct_size.h"
#include "core/call/pipeline.h"
#include "core/chunked/chunked_call.h"
#include "core/op/ufunc_registry.h"

using namespace gufunc;

namespace {

// Makes an operand of each tensor. The tensors are adjacent in memory, each struct_size bytes after
// the previous one.
guf_status list_tensors(const guf_tensor *tensors, int32_t count, guf_operand *out,
                        guf_error *error) {
  const uint32_t size = tensors->struct_size;
  const bool fits = size >= base::kFirstSize<guf_tensor> && size <= base::kMaxStructSize &&
                    size % alignof(guf_tensor) == 0;
  for (int32_t i = 0; i < count; ++i) {
    const auto *const tensor = reinterpret_cast<const guf_tensor *>(
        reinterpret_cast<const char *>(tensors) + static_cast<size_t>(i) * size);
    if (!fits || tensor->struct_size != size) {
      return base::fail(error, GUF_E_STRUCT, i, base::kNone,
                        "argument %d: tensors: struct_size: expected a multiple of %zu from %u on, "
                        "the same in all tensors, got %u",
                        i, alignof(guf_tensor), base::kFirstSize<guf_tensor>, tensor->struct_size);
    }
    out[i].kind = GUF_OPERAND_TENSOR;
    out[i].tensor = tensor;
  }
  return GUF_OK;
}

}  // namespace

guf_status guf_apply(guf_context context, const char *name, int32_t ntensors,
                     const guf_tensor *tensors, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(name, "name", error));
    op::Context *where = nullptr;
    GUF_TRY(op::context_of(context, &where, error));
    base::Ref<op::Ufunc> ufunc;
    GUF_TRY(where->find(name, &ufunc, error));
    if (ntensors != ufunc->noperands()) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "ntensors: expected %d, the number of operands of %s, got %d",
                        ufunc->noperands(), ufunc->name.c_str(), ntensors);
    }
    GUF_TRY(capi::need(tensors, "tensors", error));
    guf_operand operands[GUF_MAX_OPERANDS] = {};
    GUF_TRY(list_tensors(tensors, ntensors, operands, error));
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = ufunc->nin();
    args.noutputs = ufunc->nout();
    args.inputs = operands;
    args.outputs = operands + args.ninputs;
    guf_call_args buffer;
    op::CallView call;
    GUF_TRY(capi::unpack_call(*ufunc, &args, &buffer, &call, error));
    GUF_TRY(capi::trace_choice(call, call::call(call, args.outputs, error)));
    if (call.device->host_memory) return GUF_OK;
    return backend::synchronize_default(*call.device, UINT64_MAX, error);
  });
}

guf_status guf_call(guf_ufunc ufunc, guf_call_args *args, guf_error *error) {
  return capi::guard_hot(error, [&]() -> guf_status {
    guf_call_args buffer;
    op::CallView call;  // CallView has 20 KB; unused parts stay uninitialised.
    GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
    if (call.ufunc->nout() > 0) GUF_TRY(capi::need(call.args->outputs, "args->outputs", error));
    return capi::trace_choice(call, call::call(call, call.args->outputs, error));
  });
}

guf_status guf_call_chunked(guf_ufunc ufunc, guf_call_args *args, const guf_chunk_options *options,
                            int64_t *out_items, guf_error *error) {
  if (out_items != nullptr) *out_items = 0;
  return capi::guard(error, [&]() -> guf_status {
    guf_chunk_options given = {};
    given.struct_size = sizeof given;
    const guf_chunk_options *chosen = &given;
    if (options != nullptr) {
      GUF_TRY(base::read_struct(options, "options", &given, &chosen, error));
    }
    guf_call_args buffer;
    op::CallView call;
    GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
    if (call.ufunc->nout() > 0) GUF_TRY(capi::need(call.args->outputs, "args->outputs", error));
    int64_t done = 0;
    const guf_status status =
        capi::trace_choice(call, chunked::call_chunked(call, *chosen, &done, error));
    if (out_items != nullptr) *out_items = done;
    return status;
  });
}
