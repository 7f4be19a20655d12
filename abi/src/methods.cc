// SPDX-License-Identifier: Apache-2.0
// C API layer of methods: guf_reduce, guf_accumulate, guf_reduceat, guf_outer and guf_at.
#include <gufunc/methods.h>

#include "abi/src/capi.h"
#include "abi/src/unpack_call.h"

using namespace gufunc;

namespace {

[[gnu::noinline]] guf_status reduce_states(method::ReduceView &view, guf_operand *outputs,
                                           guf_error *error) {
  method::StateResults results;
  GUF_TRY(capi::unpack_results(view, outputs, &results, error));
  return capi::trace_choice(view.call, method::reduce_states(view, results, outputs, error));
}

}  // namespace

guf_status guf_reduce(guf_ufunc ufunc, guf_reduce_args *args, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    method::ReduceView view;  // ReduceView has 22 KB; unused parts stay uninitialised.
    guf_operand *output = nullptr;
    GUF_TRY(capi::unpack_reduce(ufunc, args, &view, &output, error));
    if (view.call.ufunc->state_reduction() != nullptr) return reduce_states(view, output, error);
    return capi::trace_choice(view.call, method::reduce(view, output, error));
  });
}

guf_status guf_accumulate(guf_ufunc ufunc, guf_accumulate_args *args, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    method::ReduceView view;
    guf_operand *output = nullptr;
    GUF_TRY(capi::unpack_accumulate(ufunc, args, false, &view, &output, error));
    return capi::trace_choice(view.call, method::accumulate(view, output, error));
  });
}

guf_status guf_reduceat(guf_ufunc ufunc, guf_accumulate_args *args, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    method::ReduceView view;
    guf_operand *output = nullptr;
    GUF_TRY(capi::unpack_accumulate(ufunc, args, true, &view, &output, error));
    return capi::trace_choice(view.call, method::reduceat(view, output, error));
  });
}

guf_status guf_outer(guf_ufunc ufunc, guf_call_args *args, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    guf_call_args buffer;
    op::CallView call;
    GUF_TRY(base::find_object(ufunc, "ufunc", &call.ufunc, error));
    GUF_TRY(method::check_outer(*call.ufunc, error));
    GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
    GUF_TRY(capi::need(call.args->outputs, "args->outputs", error));
    return capi::trace_choice(call, method::outer(call, call.args->outputs, error));
  });
}

guf_status guf_at(guf_ufunc ufunc, const guf_at_args *args, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    method::AtView view;
    GUF_TRY(capi::unpack_at(ufunc, args, &view, error));
    return capi::trace_choice(view.call, method::at(view, error));
  });
}
