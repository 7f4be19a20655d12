// SPDX-License-Identifier: Apache-2.0
// One device: its context, its memory, its default stream and whether it is lost.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_DEVICE_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_DEVICE_H

#include <gufunc/status.h>

#include <atomic>

#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/runtime/captures.h"
#include "backends/gpu/runtime/copy_kernels.h"
#include "backends/gpu/runtime/driver.h"
#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/fence.h"
#include "backends/gpu/runtime/gpu_stream.h"
#include "backends/gpu/runtime/memory_pool.h"
#include "backends/gpu/runtime/staged_copy.h"
#include "backends/gpu/runtime/status_ring.h"
#include "backends/gpu/runtime/tracer.h"

namespace gufunc::gpu {

class Device {
 public:
  // The caller remains the owner of the context and closes it after close().
  Device(Driver &driver, const Vendor &vendor, const DeviceProperties &properties,
         const Context &context);
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  // Initialises the parts that need the driver: the default stream and the driver's pool.
  // The context must be current.
  guf_status start(guf_error *error);
  // Releases everything except the context.
  void close();
  // Waits for all work of the device, so that memory that the work uses can be released. Repeats
  // the wait once if the driver refuses it. The driver does not wait if the device is lost.
  void wait_until_idle();

  Driver &driver() const { return driver_; }
  const Vendor &vendor() const { return vendor_; }
  const DeviceProperties &properties() const { return properties_; }
  const Context &context() const { return context_; }
  const DeviceTraits &traits() const { return traits_; }
  FencePool &fences() { return fences_; }
  Captures &captures() { return captures_; }
  StatusRing &status_ring() { return status_ring_; }
  StagedCopies &staged_copies() { return staged_copies_; }
  CopyKernels &copy_kernels() { return copy_kernels_; }
  Tracer &tracer() { return tracer_; }

  // Returns the stream of a handle. NULL selects the device's own default stream.
  Stream &stream_of(void *stream) {
    return stream == nullptr ? *default_stream_ : *static_cast<Stream *>(stream);
  }
  Stream &default_stream() { return *default_stream_; }
  // No kernels or copies are queued on the idle stream. Memory that is allocated on it can be used
  // on every stream.
  Stream &idle_stream() { return *idle_stream_; }
  MemoryPool &pool(Backing backing);
  // Returns the driver's pool for device memory, or NULL if device memory uses ordinary
  // allocations.
  Native driver_pool() const { return driver_pool_; }

  uint32_t next_stream_number() { return nstreams_.fetch_add(1, std::memory_order_relaxed); }

  // Wraps a stream of the driver. If `owned` is set, the plugin owns the driver's stream, and this
  // function closes it on failure. Otherwise the caller owns the driver's stream.
  guf_status open_stream(Native native, bool owned, Stream **out, guf_error *error);
  // Closes a stream without waiting. A busy stream is destroyed later.
  void close_stream(Stream &stream);
  // Ends an active capture of the stream and discards its work.
  void drop_capture(Stream &stream);
  // Destroys the closed streams that are idle now, or all closed streams if `all` is set.
  void collect_streams(bool all = false);

  // Converts a driver code to a status and an error report.
  // A code after which the device cannot be used again marks the device as lost.
  guf_status check(Code code, const char *what, guf_error *error) {
    return __builtin_expect(code == kDone, 1) ? guf_status{GUF_OK}
                                              : report_failure(code, what, error);
  }
  // Does the same as check(), but without an error report. The caller ignores the failure, but the
  // loss of the device is recorded.
  void check_for_loss(Code code) {
    if (code != kDone) report_failure(code, "", nullptr);
  }
  bool lost() const { return lost_code_.load(std::memory_order_relaxed) != kDone; }
  guf_status fail_lost(guf_error *error) const;

 private:
  guf_status make_stream(Stream **out, guf_error *error);
  [[gnu::cold]] guf_status report_failure(Code code, const char *what, guf_error *error);

  Driver &driver_;
  const Vendor &vendor_;
  const DeviceProperties properties_;
  const Context context_;
  const DeviceTraits traits_;
  std::atomic<Code> lost_code_{kDone};

  FencePool fences_;
  Native driver_pool_ = nullptr;
  MemoryPool memory_, pinned_, mapped_, managed_;
  Captures captures_;
  StatusRing status_ring_;
  StagedCopies staged_copies_;
  CopyKernels copy_kernels_;
  Tracer tracer_;
  std::atomic<uint32_t> nstreams_{0};  // number of streams created so far
  Stream *default_stream_ = nullptr, *idle_stream_ = nullptr;

  std::mutex closing_mutex_;
  Stream *closing_ = nullptr;  // closed streams that are not destroyed yet
};

// Makes a device's context current on this thread for the lifetime of the object.
// The destructor restores the previous context.
class ScopedContext {
 public:
  explicit ScopedContext(Device &device) : device_(device) {}
  ScopedContext(const ScopedContext &) = delete;
  ScopedContext &operator=(const ScopedContext &) = delete;
  ~ScopedContext() {
    if (entered_) device_.driver().leave(device_.context(), before_);
  }

  // Errors  GUF_E_FORKED, GUF_E_DEVICE_LOST, or the driver's error
  guf_status begin(guf_error *error) {
    if (forked()) return fail_forked(error);
    if (__builtin_expect(device_.lost(), 0)) return device_.fail_lost(error);
    GUF_BACKEND_TRY(device_.check(device_.driver().enter(device_.context(), &before_),
                                  "making the device's context current", error));
    entered_ = true;
    return GUF_OK;
  }

  // Does the same as begin() for functions that close and free. begin_closing() also succeeds if
  // the device is lost, because the driver may still release resources. If the driver refuses,
  // begin_closing() tries once more, because closing is not repeated and resources would leak.
  // Returns false in a forked child, which must not call the driver.
  bool begin_closing() {
    if (forked()) return false;
    for (int i = 0; i < 2 && !entered_; ++i) {
      const Code code = device_.driver().enter(device_.context(), &before_);
      device_.check_for_loss(code);
      entered_ = code == kDone;
    }
    return true;
  }

 private:
  Device &device_;
  uint64_t before_ = 0;
  bool entered_ = false;
};

// While the object exists, calls of this thread do not invalidate an active capture of any thread.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(Driver &driver) : driver_(driver) {
    changed_ = driver_.capture_exchange(&mode_) == kDone;
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;
  ~RelaxedCapture() {
    if (changed_) driver_.capture_exchange(&mode_);
  }

 private:
  Driver &driver_;
  CaptureMode mode_ = kCaptureRelaxed;
  bool changed_;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_DEVICE_H
