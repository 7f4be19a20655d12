// SPDX-License-Identifier: Apache-2.0
// A copy of the request for floating-point flags. Queued work needs the copy, because the caller's
// request is valid only during the caller's call.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_OWNED_FP_STATUS_H
#define GUFUNC_BACKENDS_CPU_LOOPS_OWNED_FP_STATUS_H

#include <gufunc/backend.h>

#include <cstring>

namespace gufunc::cpu {

class OwnedFpStatus {
 public:
  // Copies `fp_status` and returns the copy, or NULL for NULL. A long name is truncated.
  const guf_fp_status *copy(const guf_fp_status *fp_status) {
    if (fp_status == nullptr) return nullptr;
    fp_status_ = *fp_status;
    std::memcpy(name_, fp_status_.name, strnlen(fp_status_.name, sizeof name_ - 1));
    fp_status_.name = name_;
    return &fp_status_;
  }

 private:
  guf_fp_status fp_status_;
  char name_[64] = {};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_OWNED_FP_STATUS_H
