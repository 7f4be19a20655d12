// SPDX-License-Identifier: Apache-2.0
// The slots for streams and events. A NULL stream is the default stream of the device. In
// stream_query and stream_synchronize, which receive no device, a NULL stream means the default
// streams of all devices.
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_event.h"
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
