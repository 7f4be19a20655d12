// SPDX-License-Identifier: Apache-2.0
// Streams and events. A stream of the driver keeps the first failure of its work. An event of the
// driver keeps the failure of the work that was queued on the stream before the event was recorded.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_STREAM_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_STREAM_H

#include <gufunc/backend/failure.hpp>

#include <atomic>
#include <mutex>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/memory_pool.h"

namespace gufunc::gpu {

class Device;
class Event;

// A stream is reference-counted. Queued work that will report to the stream
// (status words, staged copies) owns a reference.
class Stream {
 public:
  Stream(Device &device, Native native, bool owned);
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Device &device() const { return device_; }
  Native native() const { return native_; }
  bool owned() const { return owned_; }
  uint32_t number() const { return number_; }  // identifies the stream in traces
  StreamCache &cache() { return cache_; }

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();  // must not call the driver, because callbacks of the driver call release()

  uint64_t next_launch() { return launches_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // Reports whether the stream is being captured into a graph.
  // The device's context must be current.
  guf_status capturing(bool *out, guf_error *error) const;

  // Returns the number of the last capture of the host in which the stream took part (captures.h).
  uint64_t capture() const { return capture_.load(std::memory_order_relaxed); }
  void set_capture(uint64_t number) { capture_.store(number, std::memory_order_relaxed); }

  // begin_fallible_work() announces work that may still fail, and end_fallible_work() reports its
  // completion. An event that is recorded in between checks for the failure later.
  void begin_fallible_work() { fallible_work_.fetch_add(1, std::memory_order_acq_rel); }
  void end_fallible_work() { fallible_work_.fetch_sub(1, std::memory_order_acq_rel); }
  // Keeps a failure unless the stream already has one.
  void keep(const Failure &failure);

  // Reports the first failure since the last report and clears it.
  // Events that were recorded after the failed work keep the failure.
  guf_status report(guf_error *error);

  guf_status query(guf_error *error);
  // Returns GUF_TIMEOUT if the work that is queued now does not complete within the timeout.
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);

 private:
  friend class Event;
  ~Stream() = default;
  template <class T>
  friend void sdk::destroy(T *object);

  guf_status wait(uint64_t timeout_ns, guf_error *error);

  Device &device_;
  const Native native_;
  const bool owned_;
  const uint32_t number_;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint64_t> launches_{0}, capture_{0};
  std::atomic<uint32_t> fallible_work_{0};
  std::atomic<bool> failed_{false};
  // failure_lock() protects the following members.
  Failure failure_;
  Event *watchers_ = nullptr;  // events that were recorded while work might still fail

  StreamCache cache_;

 public:
  Stream *next_closing = nullptr;  // link in the device's list of closed streams
  uint64_t traced_until_ns = 0;    // used by the tracer: end of the last reported work
};

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

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_STREAM_H
