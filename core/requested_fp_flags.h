// SPDX-License-Identifier: Apache-2.0
// The floating-point events that a call or a method asks for, and its failure by one.
#ifndef GUFUNC_CORE_REQUESTED_FP_FLAGS_H
#define GUFUNC_CORE_REQUESTED_FP_FLAGS_H

#include <gufunc/backend.h>

#include "core/op/call_view.h"

namespace gufunc::pipeline {

inline bool is_watched(const op::CallView &call) {
  return (call.args->fp_report | call.args->fp_fail) != 0;
}

// `feature`: the guf_backend_feature that looks for what the call asks for.
// Errors  GUF_E_UNSUPPORTED <= the call asks, and its backend lacks it
guf_status check_fp_flags(const op::CallView &call, uint64_t feature, guf_error *error);

// What a launch of the call is to look for.
// Errors  those of check_fp_flags
guf_status make_watch(const op::CallView &call, uint64_t feature, guf_launch_watch *out,
                      guf_error *error);

// Work in several launches: an event that fails one of them fails the whole, when all is done.
class FpFailure {
 public:
  explicit FpFailure(guf_error *error) : error_(error) {}

  // Where the next launch writes its failure.
  guf_error *error() { return status_ == GUF_OK ? error_ : &later_; }
  // A launch's status, but GUF_OK where an event failed it.
  guf_status keep(guf_status status) {
    return __builtin_expect(status == GUF_OK, 1) ? status : keep_failure(status);
  }
  guf_status status() const { return status_; }

 private:
  guf_status keep_failure(guf_status status);

  guf_error *error_;
  guf_status status_ = GUF_OK;
  guf_error later_;  // not initialised: used after a failure only
};

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_REQUESTED_FP_FLAGS_H
