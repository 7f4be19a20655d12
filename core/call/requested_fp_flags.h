// SPDX-License-Identifier: Apache-2.0
// The floating-point flags that a call or method requests, and failures due to these flags.
#ifndef GUFUNC_CORE_CALL_REQUESTED_FP_FLAGS_H
#define GUFUNC_CORE_CALL_REQUESTED_FP_FLAGS_H

#include <gufunc/backend.h>

#include "core/op/call_view.h"

namespace gufunc::call {

inline bool requests_fp_flags(const op::CallView &call) {
  return (call.args->options.fp_report | call.args->options.fp_fail) != 0;
}

// Checks that the backend can detect the requested flags. `feature` is the guf_backend_feature that
// the detection requires.
// Errors  GUF_E_UNSUPPORTED <= flags are requested, and the backend does not have the feature
guf_status check_fp_flags(const op::CallView &call, uint64_t feature, guf_error *error);

// Writes the request for the floating-point flags of a launch.
// Errors  as check_fp_flags
guf_status make_fp_status(const op::CallView &call, uint64_t feature, guf_fp_status *out,
                          guf_error *error);

// The status of work that consists of several launches. If a launch fails because of a
// floating-point flag, the remaining launches still run, and the work fails at the end.
class FpFailure {
 public:
  explicit FpFailure(guf_error *error) : error_(error) {}

  // Returns the guf_error to pass to the next launch.
  guf_error *error() { return status_ == GUF_OK ? error_ : &later_; }
  // Returns the status of a launch, or GUF_OK if the launch failed only because of a floating-point
  // flag.
  guf_status keep(guf_status status) {
    return __builtin_expect(status == GUF_OK, 1) ? status : keep_failure(status);
  }
  guf_status status() const { return status_; }

 private:
  guf_status keep_failure(guf_status status);

  guf_error *error_;
  guf_status status_ = GUF_OK;
  guf_error later_;  // uninitialised; used only after a failure
};

}  // namespace gufunc::call

#endif  // GUFUNC_CORE_CALL_REQUESTED_FP_FLAGS_H
