// SPDX-License-Identifier: Apache-2.0
// C API layer of plans: guf_plan_create and similar functions.
#include <utility>

#include "abi/src/capi.h"
#include "abi/src/handles.h"
#include "abi/src/text_out.h"
#include "abi/src/unpack_call.h"
#include "core/plan/prepared_plan.h"

using namespace gufunc;
using plan::PreparedPlan;

guf_status guf_plan_create(guf_ufunc ufunc, const guf_call_args *args, guf_plan *out_plan,
                           guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_plan, "out_plan", error));
    guf_call_args buffer;
    op::CallView call;
    GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
    base::collect();
    base::Ref<PreparedPlan> plan;
    GUF_TRY(PreparedPlan::make(call, &plan, error));
    *out_plan = capi::publish<guf_plan>(plan);
    return GUF_OK;
  });
}

guf_status guf_plan_retain(guf_plan plan, guf_error *error) {
  return capi::retain(plan, base::Kind::kPlan, "plan", error);
}

guf_status guf_plan_release(guf_plan plan, guf_error *error) {
  return capi::release(plan, base::Kind::kPlan, "plan", error);
}

guf_status guf_plan_workspace(guf_plan plan, uint64_t *out_nbytes, uint64_t *out_alignment,
                              guf_error *error) {
  GUF_TRY(capi::need(out_nbytes, "out_nbytes", error));
  GUF_TRY(capi::need(out_alignment, "out_alignment", error));
  PreparedPlan *found = nullptr;
  GUF_TRY(base::find_object(plan, "plan", &found, error));
  *out_nbytes = found->workspace();
  *out_alignment = call::kWorkspaceAlignment;
  return GUF_OK;
}

guf_status guf_plan_launch(guf_plan plan, guf_stream stream, int32_t naddresses,
                           const uint64_t *addresses, uint64_t workspace, guf_error *error) {
  return capi::guard_hot(error, [&]() -> guf_status {
    PreparedPlan *found = nullptr;
    GUF_TRY(base::find_object(plan, "plan", &found, error));
    GUF_TRY(capi::check_running(error));
    backend::Stream *queue = nullptr;
    GUF_TRY(capi::find_stream(stream, &queue, error));
    if (naddresses > 0) GUF_TRY(capi::need(addresses, "addresses", error));
    return found->launch(queue, naddresses, addresses, workspace, error);
  });
}

guf_status guf_plan_explain(guf_plan plan, char *text, uint64_t *inout_length, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(inout_length, "inout_length", error));
    PreparedPlan *found = nullptr;
    GUF_TRY(base::find_object(plan, "plan", &found, error));
    if (*inout_length > 0) GUF_TRY(capi::need(text, "text", error));
    const std::string explanation = found->text();
    const uint64_t capacity = std::exchange(*inout_length, explanation.size() + 1);
    return capi::hand_out(explanation, text, capacity, error);
  });
}
