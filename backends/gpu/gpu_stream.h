// SPDX-License-Identifier: Apache-2.0
// A stream of the driver, and the first failure of its work.
#ifndef GUFUNC_BACKENDS_GPU_GPU_STREAM_H
#define GUFUNC_BACKENDS_GPU_GPU_STREAM_H

#include <atomic>

#include "backends/gpu/gpu_failure.h"
#include "backends/gpu/memory_pool.h"

namespace gufunc::gpu {

class Device;
class Event;

// Counted: what is queued and will speak of it (status words, staged copies) holds it.
class Stream {
 public:
  Stream(Device &device, Native native, bool owned);
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Device &device() const { return device_; }
  Native native() const { return native_; }
  bool owned() const { return owned_; }
  uint32_t number() const { return number_; }  // among the device's, for traces
  StreamCache &cache() { return cache_; }

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();  // makes no driver call: threads of the driver call it too

  uint64_t next_launch() { return launches_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // Whether it is being captured into a graph. With the device's context current.
  guf_status capturing(bool *out, guf_error *error) const;

  // Number of the last capture of ours that it took part in (captures.h).
  uint64_t capture() const { return capture_.load(std::memory_order_relaxed); }
  void set_capture(uint64_t number) { capture_.store(number, std::memory_order_relaxed); }

  // The work of a launch may still fail: between these, records of events remember to ask.
  void expect() { expected_.fetch_add(1, std::memory_order_acq_rel); }
  void expected_came() { expected_.fetch_sub(1, std::memory_order_acq_rel); }
  // Keeps the failure unless there is one already.
  void keep(const Failure &failure);

  // Reports the first failure since the last report, and forgets it. Events that were recorded
  // behind it keep it.
  guf_status report(guf_error *error);

  guf_status query(guf_error *error);
  // GUF_TIMEOUT when what is queued now lasts longer.
  guf_status synchronize(uint64_t timeout_ns, guf_error *error);

 private:
  friend class Event;
  ~Stream() = default;
  template <class T>
  friend void destroy(T *object);

  guf_status wait(uint64_t timeout_ns, guf_error *error);

  Device &device_;
  const Native native_;
  const bool owned_;
  const uint32_t number_;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint64_t> launches_{0}, capture_{0};
  std::atomic<uint32_t> expected_{0};
  std::atomic<bool> failed_{false};
  // Guarded by the lock of failures:
  Failure failure_;
  Event *asking_ = nullptr;  // events recorded while failures were expected

  StreamCache cache_;

 public:
  Stream *next_closing = nullptr;  // of the device's list
  uint64_t traced_until_ns = 0;    // the tracer's: what it told ended by then
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_STREAM_H
