// SPDX-License-Identifier: Apache-2.0
// Waits for streams and keeps the failure of their work.
#include "backends/gpu/runtime/gpu_stream.h"

#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_event.h"
#include "backends/gpu/runtime/polling_deadline.h"

namespace gufunc::gpu {

Stream::Stream(Device &device, Native native, bool owned)
    : device_(device), native_(native), owned_(owned), number_(device.next_stream_number()) {
  cache_.stream = this;
}

void Stream::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
}

guf_status Stream::capturing(bool *out, guf_error *error) const {
  *out = false;
  return device_.check(device_.driver().stream_capturing(native_, out),
                       "querying the capture status of the stream", error);
}

void Stream::keep(const Failure &failure) {
  const std::lock_guard lock(failure_lock());
  if (!failure_.happened()) failure_ = failure;
  failed_.store(true, std::memory_order_release);
}

guf_status Stream::report(guf_error *error) {
  if (!failed_.load(std::memory_order_acquire)) return GUF_OK;
  const std::lock_guard lock(failure_lock());
  for (Event *event = watchers_; event != nullptr;) {
    Event *const next = event->next_;
    if (failure_.launch <= event->launches_) event->keep_failure();
    event = next;
  }
  const Failure first = failure_;
  failure_ = Failure();
  failed_.store(false, std::memory_order_release);
  return first.report(error);
}

guf_status Stream::query(guf_error *error) {
  const Code code = device_.driver().stream_query(native_);
  if (code == kDone) return GUF_OK;
  if (device_.driver().error_info(code).kind == ErrorKind::kNotReady) return GUF_NOT_READY;
  return device_.check(code, "querying the stream", error);
}

guf_status Stream::synchronize(uint64_t timeout_ns, guf_error *error) {
  GUF_BACKEND_TRY(wait(timeout_ns, error));
  return report(error);
}

guf_status Stream::wait(uint64_t timeout_ns, guf_error *error) {
  PollingDeadline deadline(timeout_ns);
  if (deadline.never()) {
    return device_.check(device_.driver().stream_synchronize(native_), "waiting for the stream",
                         error);
  }
  const guf_status idle = query(error);
  if (idle != GUF_NOT_READY) return idle;
  // Waits only for the work that is queued now, because other threads may continue to queue work.
  Fence *fence = nullptr;
  GUF_BACKEND_TRY(device_.fences().acquire(native_, &fence, error));
  guf_status status = GUF_NOT_READY;
  while ((status = device_.fences().poll(*fence, error)) == GUF_NOT_READY) {
    if (deadline.expired()) {
      status = GUF_TIMEOUT;
      break;
    }
    deadline.pause();
  }
  device_.fences().release(fence);
  return status;
}

}  // namespace gufunc::gpu
