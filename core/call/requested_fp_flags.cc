// SPDX-License-Identifier: Apache-2.0
#include "core/call/requested_fp_flags.h"

#include "core/backend/backend.h"

namespace gufunc::call {

using base::kNone;

guf_status check_fp_flags(const op::CallView &call, uint64_t feature, guf_error *error) {
  const backend::Device &device = *call.device;
  if (!requests_fp_flags(call) || (device.backend->api.features & feature) != 0) return GUF_OK;
  return base::fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                    "%s: backend %s does not detect floating-point flags%s", device.spec.c_str(),
                    device.backend->api.name,
                    feature == GUF_BACKEND_METHOD_FP_FLAGS ? " in methods" : "");
}

[[gnu::cold]] guf_status make_fp_status(const op::CallView &call, uint64_t feature,
                                        guf_fp_status *out, guf_error *error) {
  GUF_TRY(check_fp_flags(call, feature, error));
  const guf_call_args &args = *call.args;
  *out = {
      call.ufunc->name.c_str(), call.ufunc->flags, args.options.fp_report, args.options.fp_fail, 0,
      args.options.fp_flags};
  return GUF_OK;
}

[[gnu::cold]] guf_status FpFailure::keep_failure(guf_status status) {
  if (status != GUF_E_FLOATING_POINT) {
    if (status_ != GUF_OK && error_ != nullptr) *error_ = later_;
    return status;
  }
  status_ = status;
  later_.struct_size = sizeof later_;
  later_.status = GUF_OK;
  return GUF_OK;
}

}  // namespace gufunc::call
