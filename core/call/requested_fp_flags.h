// SPDX-License-Identifier: Apache-2.0
// The floating-point flags that a call or method requests, and failures because of them.
#ifndef GUFUNC_CORE_CALL_REQUESTED_FP_FLAGS_H
#define GUFUNC_CORE_CALL_REQUESTED_FP_FLAGS_H

#include <gufunc/backend.h>

#include "core/op/call_view.h"

namespace gufunc::call {

inline bool requests_fp_flags(const op::CallView &call) {
  return (call.args->options.fp_report | call.args->options.fp_fail) != 0;
}

// `feature`: the guf_backend_feature that detects the requested flags.
// Errors  GUF_E_UNSUPPORTED <= flags are requested and the backend lacks the feature
guf_status check_fp_flags(const op::CallView &call, uint64_t feature, guf_error *error);

// Makes the request for a launch of the call.
// Errors  those of check_fp_flags
guf_status make_fp_status(const op::CallView &call, uint64_t feature, guf_fp_status *out,
                          guf_error *error);

// The status of work in several launches. If a floating-point flag fails one launch, the rest of
// the work continues and the whole fails at the end.
class FpFailure {
 public:
  explicit FpFailure(guf_error *error) : error_(error) {}

  // The guf_error for the next launch.
  guf_error *error() { return status_ == GUF_OK ? error_ : &later_; }
  // Returns the status of a launch, or GUF_OK if only a floating-point flag failed it.
  guf_status keep(guf_status status) {
    return __builtin_expect(status == GUF_OK, 1) ? status : keep_failure(status);
  }
  guf_status status() const { return status_; }

 private:
  guf_status keep_failure(guf_status status);

  guf_error *error_;
  guf_status status_ = GUF_OK;
  guf_error later_;  // uninitialised, used only after a failure
};

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_REQUESTED_FP_FLAGS_H
