// SPDX-License-Identifier: Apache-2.0
// An event reports the failure of its stream. The failure is determined when the recording
// is complete, because all work before it has then reported success or failure.
// Until then, the event is in a list of its stream. When the stream reports its failure,
// the failure is first copied to the events in the list and then cleared.
#include "backends/gpu/runtime/gpu_event.h"

#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/polling_deadline.h"

namespace gufunc::gpu {

std::mutex &failure_lock() {
  static constinit std::mutex lock;
  return lock;
}

Event::~Event() {
  const std::lock_guard lock(failure_lock());
  stop_watching();
}

guf_status Event::record(Stream &stream, guf_error *error) {
  GUF_BACKEND_TRY(device_.check(device_.driver().event_record(native_, stream.native()),
                                "recording an event", error));
  capture_.store(device_.captures().of(stream), std::memory_order_relaxed);
  watch_failures(stream);
  recorded_.store(true, std::memory_order_release);
  return GUF_OK;
}

void Event::watch_failures(Stream &stream) {
  // Failing work stores the failure before it decrements fallible_work_. This function reads
  // fallible_work_ before the failure, so it misses no failure.
  const bool may_fail = stream.fallible_work_.load(std::memory_order_acquire) != 0;
  const bool failed = stream.failed_.load(std::memory_order_acquire);
  if (!may_fail && !failed && !may_have_failure_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(failure_lock());
  stop_watching();
  failure_ = stream.failure_;
  if (!failure_.happened() && stream.fallible_work_.load(std::memory_order_acquire) != 0) {
    launches_ = stream.launches_.load(std::memory_order_relaxed);
    stream.retain();
    stream_ = &stream;
    next_ = stream.watchers_;
    if (next_ != nullptr) next_->previous_ = this;
    stream.watchers_ = this;
  }
  may_have_failure_.store(stream_ != nullptr || failure_.happened(), std::memory_order_release);
}

void Event::stop_watching() {
  if (stream_ == nullptr) return;
  if (previous_ != nullptr) {
    previous_->next_ = next_;
  } else {
    stream_->watchers_ = next_;
  }
  if (next_ != nullptr) next_->previous_ = previous_;
  next_ = previous_ = nullptr;
  stream_->release();
  stream_ = nullptr;
}

// Keeps the stream's failure if the failed work was queued before the recording.
void Event::keep_failure() {
  if (stream_ == nullptr) return;
  if (stream_->failure_.happened() && stream_->failure_.launch <= launches_) {
    failure_ = stream_->failure_;
  }
  stop_watching();
}

guf_status Event::report_failure(guf_error *error) {
  if (!may_have_failure_.load(std::memory_order_acquire)) return GUF_OK;
  const std::lock_guard lock(failure_lock());
  keep_failure();
  return failure_.report(error);
}

guf_status Event::query(guf_error *error) {
  if (!recorded()) return GUF_OK;
  const Code code = device_.driver().event_query(native_);
  if (code == kDone) return report_failure(error);
  if (device_.driver().error_info(code).kind == ErrorKind::kNotReady) return GUF_NOT_READY;
  return device_.check(code, "querying an event", error);
}

guf_status Event::synchronize(uint64_t timeout_ns, guf_error *error) {
  if (!recorded()) return GUF_OK;
  PollingDeadline deadline(timeout_ns);
  if (deadline.never()) {
    GUF_BACKEND_TRY(
        device_.check(device_.driver().event_synchronize(native_), "waiting for an event", error));
    return report_failure(error);
  }
  for (;;) {
    const guf_status status = query(error);
    if (status != GUF_NOT_READY) return status;
    if (deadline.expired()) return GUF_TIMEOUT;
    deadline.pause();
  }
}

}  // namespace gufunc::gpu
