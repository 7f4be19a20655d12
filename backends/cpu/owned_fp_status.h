// SPDX-License-Identifier: Apache-2.0
// The floating-point flag request of queued work: a copy, because the caller's request is valid
// only during its call.
#ifndef GUFUNC_BACKENDS_CPU_OWNED_WATCH_H
#define GUFUNC_BACKENDS_CPU_OWNED_WATCH_H

#include <gufunc/backend.h>

#include <cstring>

namespace gufunc::cpu {

class OwnedWatch {
 public:
  // Copies `watch` and returns the copy; NULL for NULL. A long name is truncated.
  const guf_launch_watch *copy(const guf_launch_watch *watch) {
    if (watch == nullptr) return nullptr;
    watch_ = *watch;
    std::memcpy(name_, watch_.name, strnlen(watch_.name, sizeof name_ - 1));
    watch_.name = name_;
    return &watch_;
  }

 private:
  guf_launch_watch watch_;
  char name_[64] = {};
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_OWNED_WATCH_H
