// SPDX-License-Identifier: Apache-2.0
// Waits for streams and keeps the failure of their work. Implements the slots for streams and
// events.
//
// An event reports the failure of its stream. The failure is determined when the recording is
// complete, because all work before it has then reported success or failure. Until then, the event
// is in a list of its stream. When the stream reports its failure, the failure is first copied to
// the events in the list and then cleared.
//
// In a slot, a NULL stream is the default stream of the device. In stream_query and
// stream_synchronize, which receive no device, a NULL stream means the default streams of all
// devices.
#include "backends/gpu/runtime/gpu_stream.h"

#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_plugin.h"
#include "backends/gpu/runtime/polling_deadline.h"

namespace gufunc::gpu {
namespace {

guf_status check_same(const Device &a, const Device &b, guf_error *error) {
  if (&a == &b) return GUF_OK;
  return fail(error, GUF_E_DEVICE_MISMATCH,
              "the event is of device %d and the stream of device %d: expected one device, got two",
              a.context().index, b.context().index);
}

// Checks a stream of the caller before it is adopted. The code kGone then refers to the context of
// that stream, because the plugin's own context has just been made current.
guf_status check_native(Device &device, Native native, guf_error *error) {
  bool belongs = false;
  const Code code = device.driver().stream_belongs(native, device.context(), &belongs);
  if (const ErrorInfo &info = device.driver().error_info(code); info.kind == ErrorKind::kGone) {
    return fail_native(
        error, GUF_E_HANDLE, code,
        "native stream: expected one of device %d, got one of a destroyed context: %s (%d)",
        device.context().index, info.name, code);
  }
  GUF_BACKEND_TRY(device.check(code, "querying the device of the stream", error));
  if (belongs) return GUF_OK;
  return fail(error, GUF_E_DEVICE_MISMATCH,
              "native stream: expected one of %s:%d, got one of another device",
              device.vendor().name, device.context().index);
}

// Reports an error if a stream of the caller is being captured. The caller may capture the stream
// without the host's knowledge, and a query would invalidate that capture.
guf_status check_capture(Stream &stream, guf_error *error) {
  bool captured = false;
  if (!stream.owned()) GUF_BACKEND_TRY(stream.capturing(&captured, error));
  return captured
             ? fail(error, GUF_E_CAPTURE, "the stream is being captured and cannot be waited for")
             : guf_status{GUF_OK};
}

guf_status wait_stream(Stream &stream, uint64_t timeout_ns, guf_error *error) {
  ScopedContext scope(stream.device());
  GUF_BACKEND_TRY(scope.begin(error));
  GUF_BACKEND_TRY(check_capture(stream, error));
  const RelaxedCapture relaxed(stream.device().driver());
  const guf_status status = stream.synchronize(timeout_ns, error);
  stream.device().tracer().collect();
  return status;
}

guf_status query_stream(Stream &stream, guf_error *error) {
  ScopedContext scope(stream.device());
  GUF_BACKEND_TRY(scope.begin(error));
  GUF_BACKEND_TRY(check_capture(stream, error));
  const RelaxedCapture relaxed(stream.device().driver());
  return stream.query(error);
}

}  // namespace

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

guf_status stream_open(void *device, uint64_t native, uint32_t flags, void **out_stream,
                       guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if ((flags & ~uint32_t{GUF_BACKEND_STREAM_DEFAULT}) != 0) {
    return fail(error, GUF_E_UNSUPPORTED, "stream flags: 0x%x is not known to this plugin", flags);
  }
  if (forked()) return fail_forked(error);
  if (flags != 0) {
    *out_stream = &owner.stream_of(nullptr);
    return GUF_OK;
  }
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  owner.collect_streams();
  auto adopted = reinterpret_cast<Native>(native);
  Stream *stream = nullptr;
  if (native != 0) {
    GUF_BACKEND_TRY(check_native(owner, adopted, error));
  } else {
    GUF_BACKEND_TRY(owner.check(owner.driver().stream_open(&adopted), "creating a stream", error));
  }
  GUF_BACKEND_TRY(owner.open_stream(adopted, native == 0, &stream, error));
  *out_stream = stream;
  return GUF_OK;
}

void stream_close(void *stream) {
  if (stream == nullptr) return;
  auto &closed = *static_cast<Stream *>(stream);
  Device &device = closed.device();
  if (&closed == &device.stream_of(nullptr)) return;
  ScopedContext scope(device);
  if (!scope.begin_closing()) return;
  const RelaxedCapture relaxed(device.driver());
  device.close_stream(closed);
}

guf_status stream_query(void *stream, guf_error *error) {
  if (stream != nullptr) return query_stream(*static_cast<Stream *>(stream), error);
  return for_each_device(
      [&](Device &device) { return query_stream(device.default_stream(), error); });
}

guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error) {
  if (stream != nullptr) return wait_stream(*static_cast<Stream *>(stream), timeout_ns, error);
  const PollingDeadline deadline(timeout_ns);
  return for_each_device([&](Device &device) {
    return wait_stream(device.default_stream(), deadline.left_ns(), error);
  });
}

guf_status stream_wait_event(void *stream, void *event, guf_error *error) {
  auto &awaited = *static_cast<Event *>(event);
  Device &device = stream == nullptr ? awaited.device() : static_cast<Stream *>(stream)->device();
  ScopedContext scope(device);
  GUF_BACKEND_TRY(scope.begin(error));
  if (!awaited.recorded()) return GUF_OK;
  Stream &waiting = device.stream_of(stream);
  GUF_BACKEND_TRY(device.check(device.driver().stream_wait(waiting.native(), awaited.native()),
                               "queueing a wait for an event", error));
  const uint64_t capture = awaited.capture();
  if (__builtin_expect(capture != 0, 0) && &awaited.device() == &device) {
    device.captures().join(waiting, capture);
  }
  return GUF_OK;
}

guf_status event_open(void *device, void **out_event, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  Native native = nullptr;
  GUF_BACKEND_TRY(owner.check(owner.driver().event_open(EventKind::kTimed, &native),
                              "creating an event", error));
  auto *event = create<Event>(owner, native);
  if (event == nullptr) {
    owner.check_for_loss(owner.driver().event_close(native));
    return fail_memory(error, "an event");
  }
  *out_event = event;
  return GUF_OK;
}

void event_close(void *event) {
  if (event == nullptr) return;
  auto *closed = static_cast<Event *>(event);
  Device &device = closed->device();
  {
    ScopedContext scope(device);
    if (!scope.begin_closing()) return;
    device.check_for_loss(device.driver().event_close(closed->native()));
  }
  destroy(closed);
}

guf_status event_record(void *event, void *stream, guf_error *error) {
  auto &recorded = *static_cast<Event *>(event);
  Device &device = recorded.device();
  if (stream != nullptr) {
    GUF_BACKEND_TRY(check_same(device, static_cast<Stream *>(stream)->device(), error));
  }
  ScopedContext scope(device);
  GUF_BACKEND_TRY(scope.begin(error));
  return recorded.record(device.stream_of(stream), error);
}

guf_status event_query(void *event, guf_error *error) {
  auto &requested = *static_cast<Event *>(event);
  ScopedContext scope(requested.device());
  GUF_BACKEND_TRY(scope.begin(error));
  const RelaxedCapture relaxed(requested.device().driver());
  return requested.query(error);
}

guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error) {
  auto &awaited = *static_cast<Event *>(event);
  ScopedContext scope(awaited.device());
  GUF_BACKEND_TRY(scope.begin(error));
  const RelaxedCapture relaxed(awaited.device().driver());
  const guf_status status = awaited.synchronize(timeout_ns, error);
  awaited.device().tracer().collect();
  return status;
}

}  // namespace gufunc::gpu
