// SPDX-License-Identifier: Apache-2.0
// An event of the driver, with the failure of the work that was queued on the stream before the
// event was recorded.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_EVENT_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_EVENT_H

#include <gufunc/backend/failure.hpp>

#include <atomic>
#include <mutex>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/gpu_stream.h"

namespace gufunc::gpu {

// An event that was never recorded is complete. After a second recording,
// query and synchronize refer to the new recording.
class Event {
 public:
  Event(Device &device, Native native) : device_(device), native_(native) {}
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event();  // does not call the driver

  Device &device() const { return device_; }
  Native native() const { return native_; }
  // Returns the number of the host's capture in which the event was recorded, or 0.
  uint64_t capture() const { return capture_.load(std::memory_order_relaxed); }
  bool recorded() const { return recorded_.load(std::memory_order_acquire); }

  guf_status record(Stream &stream, guf_error *error);
  // Errors  GUF_NOT_READY (query), GUF_TIMEOUT (synchronize), the failure of work that was queued
  //         on the stream before the recording, or the driver's error
  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);

 private:
  friend class Stream;
  void watch_failures(Stream &stream);
  void stop_watching();  // requires failure_lock()
  void keep_failure();   // requires failure_lock()
  guf_status report_failure(guf_error *error);

  Device &device_;
  const Native native_;
  std::atomic<uint64_t> capture_{0};
  std::atomic<bool> recorded_{false};
  // True if the event waits for a stream's failure or keeps a failure.
  std::atomic<bool> may_have_failure_{false};
  // failure_lock() protects the following members.
  Stream *stream_ = nullptr;  // stream whose failure the event waits for, reference-counted
  uint64_t launches_ = 0;     // number of launches on the stream before the recording
  Event *next_ = nullptr, *previous_ = nullptr;
  Failure failure_;
};

// Protects the failures of all streams. Recording and querying an event lock the mutex only if work
// has failed or may fail.
std::mutex &failure_lock();

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_EVENT_H
