// SPDX-License-Identifier: Apache-2.0
// An event counts its recordings and the completed ones. A mutex protects the counters.
#include "backends/cpu/runtime/cpu_event.h"

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_wait.h"

#include <gufunc/backend/fork_watch.hpp>

namespace gufunc::cpu {

Event::Event() : fork_epoch_(fork_epoch()) {}

void Event::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // In a forked child, a thread that no longer exists may own the mutex, so the memory is leaked.
  if (fork_epoch_ == fork_epoch()) destroy(this);
}

uint64_t Event::begin_record() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}

void Event::complete(uint64_t record, const Failure &failure) {
  const std::lock_guard lock(mutex_);
  if (record <= completed_) return;
  completed_ = record;
  failure_ = failure;
  completed_changed_.notify_all();
}

uint64_t Event::last_record() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

void Event::wait_for(uint64_t record) {
  std::unique_lock lock(mutex_);
  completed_changed_.wait(lock, [&] { return completed_ >= record; });
}

guf_status Event::forked(guf_error *error) const {
  return fail(error, GUF_E_FORKED, kNone, kNone,
              "the event was made before this process was forked");
}

guf_status Event::query(guf_error *error) {
  if (fork_epoch_ != fork_epoch()) return forked(error);
  const std::lock_guard lock(mutex_);
  return completed_ < recorded_ ? GUF_NOT_READY : failure_.report(error);
}

guf_status Event::synchronize(uint64_t timeout_ns, guf_error *error) {
  if (fork_epoch_ != fork_epoch()) return forked(error);
  const Deadline deadline(timeout_ns);
  std::unique_lock lock(mutex_);
  const uint64_t record = recorded_;
  const auto done = [&] { return completed_ >= record; };
  if (deadline.never()) {
    completed_changed_.wait(lock, done);
  } else if (!completed_changed_.wait_until(lock, deadline.at(), done)) {
    return GUF_TIMEOUT;
  }
  return failure_.report(error);
}

}  // namespace gufunc::cpu
