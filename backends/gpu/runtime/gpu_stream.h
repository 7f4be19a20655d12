// SPDX-License-Identifier: Apache-2.0
// A stream of the driver, and the first failure of its work.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_STREAM_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_STREAM_H

#include <gufunc/backend/failure.hpp>

#include <atomic>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/memory_pool.h"

namespace gufunc::gpu {

class Device;
class Event;

// Reference-counted: queued work that will report to it (status words, staged copies) holds a
// reference.
class Stream {
 public:
  Stream(Device &device, Native native, bool owned);
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  Device &device() const { return device_; }
  Native native() const { return native_; }
  bool owned() const { return owned_; }
  uint32_t number() const { return number_; }  // number among the device's streams, for traces
  StreamCache &cache() { return cache_; }

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();  // makes no driver call, because threads of the driver call it too

  uint64_t next_launch() { return launches_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // Whether it is being captured into a graph. Requires that the device's context is current.
  guf_status capturing(bool *out, guf_error *error) const;

  // Number of the last capture of the host that it took part in (captures.h).
  uint64_t capture() const { return capture_.load(std::memory_order_relaxed); }
  void set_capture(uint64_t number) { capture_.store(number, std::memory_order_relaxed); }

  // Between these two calls the work of a launch can still fail. Events recorded in this period
  // check for the failure later.
  void expect() { expected_.fetch_add(1, std::memory_order_acq_rel); }
  void expected_came() { expected_.fetch_sub(1, std::memory_order_acq_rel); }
  // Keeps the failure unless one is kept already.
  void keep(const Failure &failure);

  // Reports the first failure since the last report and clears it. Events recorded after the
  // failure keep it.
  guf_status report(guf_error *error);

  guf_status query(guf_error *error);
  // Returns GUF_TIMEOUT if the work that is queued now takes longer.
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
  std::atomic<uint32_t> expected_{0};
  std::atomic<bool> failed_{false};
  // Protected by the lock of failures:
  Failure failure_;
  Event *asking_ = nullptr;  // events recorded while failures were expected

  StreamCache cache_;

 public:
  Stream *next_closing = nullptr;  // in the device's list
  uint64_t traced_until_ns = 0;    // for the tracer: the end of the last reported work
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_STREAM_H
