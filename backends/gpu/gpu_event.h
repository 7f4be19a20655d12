// SPDX-License-Identifier: Apache-2.0
// An event of the driver, and the failure that its stream had when it was recorded.
#ifndef GUFUNC_BACKENDS_GPU_GPU_EVENT_H
#define GUFUNC_BACKENDS_GPU_GPU_EVENT_H

#include <atomic>
#include <mutex>

#include "backends/gpu/gpu_failure.h"
#include "backends/gpu/gpu_stream.h"

namespace gufunc::gpu {

// An event that was never recorded is complete. Recording again makes query and wait speak of the
// new record.
class Event {
 public:
  Event(Device &device, Native native) : device_(device), native_(native) {}
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event();  // makes no driver call

  Device &device() const { return device_; }
  Native native() const { return native_; }
  // The capture of ours that it marks a place in; 0: none.
  uint64_t capture() const { return capture_.load(std::memory_order_relaxed); }
  bool recorded() const { return recorded_.load(std::memory_order_acquire); }

  guf_status record(Stream &stream, guf_error *error);
  // Errors  GUF_NOT_READY, the failure that the stream had, or what the driver says
  guf_status query(guf_error *error);
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);

 private:
  friend class Stream;
  void ask(Stream &stream);
  void stop_asking();  // with the lock of failures
  void settle();       // with the lock of failures
  guf_status answer(guf_error *error);

  Device &device_;
  const Native native_;
  std::atomic<uint64_t> capture_{0};
  std::atomic<bool> recorded_{false};
  std::atomic<bool> concerned_{false};  // asks a stream, or keeps a failure
  // Guarded by the lock of failures:
  Stream *stream_ = nullptr;  // asked; counted
  uint64_t launches_ = 0;     // of the stream at the record
  Event *next_ = nullptr, *previous_ = nullptr;
  Failure failure_;
};

// Guards the failures of all streams: taken only where something failed or may fail.
std::mutex &failure_lock();

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_EVENT_H
