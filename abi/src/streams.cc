// SPDX-License-Identifier: Apache-2.0
// C API layer of streams, events and graphs.
#include <gufunc/graph.h>
#include <gufunc/stream.h>

#include <memory>

#include "abi/src/handles.h"
#include "core/backend/graph.h"
#include "core/memory/memory.h"

using namespace gufunc;

namespace {

using backend::Event;
using backend::Graph;
using backend::Stream;

guf_status check_create(guf_device device, uint32_t flags, const void *out, const char *parameter,
                        backend::Device **found, guf_error *error) {
  GUF_TRY(capi::need(out, parameter, error));
  if (flags != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "flags: expected 0, got 0x%x",
                      flags);
  }
  GUF_TRY(capi::need_device(device, "device", found, error));
  return capi::check_running(error);
}

guf_status open_stream(guf_device device, uint64_t native, uint32_t flags, guf_stream *out_stream,
                       guf_error *error) {
  backend::Device *found = nullptr;
  GUF_TRY(check_create(device, flags, out_stream, "out_stream", &found, error));
  base::collect();
  base::Ref<Stream> stream;
  GUF_TRY(backend::open_stream(*found, native, &stream, error));
  *out_stream = capi::publish<guf_stream>(stream);
  return GUF_OK;
}

guf_status fail_device_mismatch(const Event &event, const Stream &stream, guf_error *error) {
  return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                    "the event is of device %s, the stream of %s", event.device->spec.c_str(),
                    stream.device->spec.c_str());
}

// Runs release callbacks of completed work after a wait.
guf_status after_wait(guf_status status) {
  if (status != GUF_TIMEOUT) memory::run_callbacks(0);
  return status;
}

guf_status need_graph(guf_graph graph, Graph **out, guf_error *error) {
  GUF_TRY(base::find_object(graph, "graph", out, error));
  return capi::check_epoch(**out, "graph", error);
}

}  // namespace

guf_status guf_stream_create(guf_device device, uint32_t flags, guf_stream *out_stream,
                             guf_error *error) {
  return capi::guard(error, [&] { return open_stream(device, 0, flags, out_stream, error); });
}

guf_status guf_stream_adopt(guf_device device, uint64_t native, uint32_t flags,
                            guf_stream *out_stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    if (native == 0) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "native is 0");
    }
    return open_stream(device, native, flags, out_stream, error);
  });
}

guf_status guf_stream_retain(guf_stream stream, guf_error *error) {
  return capi::retain(stream, base::Kind::kStream, "stream", error);
}

guf_status guf_stream_release(guf_stream stream, guf_error *error) {
  return capi::release(stream, base::Kind::kStream, "stream", error);
}

guf_status guf_stream_get_device(guf_stream stream, guf_device *out_device, guf_error *error) {
  GUF_TRY(capi::need(out_device, "out_device", error));
  Stream *found = nullptr;
  GUF_TRY(base::find_object(stream, "stream", &found, error));
  *out_device = reinterpret_cast<guf_device>(found->device->handle);
  return GUF_OK;
}

guf_status guf_stream_query(guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Stream *found = nullptr;
    GUF_TRY(capi::need_stream(stream, &found, error));
    if (found->capture != nullptr) return backend::check_not_captured(found, "a query", error);
    backend::ErrorRecord record(error);
    return found->device->backend->api.stream_query(found->native, record.get());
  });
}

guf_status guf_stream_synchronize(guf_stream stream, uint64_t timeout_ns, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Stream *found = nullptr;
    GUF_TRY(capi::need_stream(stream, &found, error));
    if (found->capture != nullptr)
      return backend::check_not_captured(found, "a wait for it", error);
    // Keeps a reference, because a callback may release the stream during this call.
    const auto retained = base::Ref<Stream>::share(found);
    backend::ErrorRecord record(error);
    return after_wait(
        found->device->backend->api.stream_synchronize(found->native, timeout_ns, record.get()));
  });
}

guf_status guf_stream_wait_event(guf_stream stream, guf_event event, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Stream *found_stream = nullptr;
    Event *found_event = nullptr;
    GUF_TRY(capi::need_stream(stream, &found_stream, error));
    GUF_TRY(capi::need_event(event, "event", &found_event, error));
    if (found_event->device->backend != found_stream->device->backend) {
      return fail_device_mismatch(*found_event, *found_stream, error);
    }
    return backend::wait_for_event(*found_stream, *found_event, error);
  });
}

guf_status guf_event_create(guf_device device, uint32_t flags, guf_event *out_event,
                            guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    backend::Device *found = nullptr;
    GUF_TRY(check_create(device, flags, out_event, "out_event", &found, error));
    base::collect();
    const auto event = base::Ref<Event>::adopt(new Event);
    event->device = found;
    event->fork_epoch = base::fork_epoch();
    backend::ErrorRecord record(error);
    GUF_TRY(found->backend->api.event_open(found->native, &event->native, record.get()));
    *out_event = capi::publish<guf_event>(event);
    return GUF_OK;
  });
}

guf_status guf_event_retain(guf_event event, guf_error *error) {
  return capi::retain(event, base::Kind::kEvent, "event", error);
}

guf_status guf_event_release(guf_event event, guf_error *error) {
  return capi::release(event, base::Kind::kEvent, "event", error);
}

guf_status guf_event_record(guf_event event, guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Event *found_event = nullptr;
    Stream *found_stream = nullptr;
    GUF_TRY(capi::need_event(event, "event", &found_event, error));
    GUF_TRY(capi::need_stream(stream, &found_stream, error));
    if (found_event->device != found_stream->device)
      return fail_device_mismatch(*found_event, *found_stream, error);
    return backend::record_event(*found_event, *found_stream, error);
  });
}

guf_status guf_event_query(guf_event event, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Event *found_event = nullptr;
    GUF_TRY(capi::need_event(event, "event", &found_event, error));
    GUF_TRY(backend::check_event(*found_event, error));
    backend::ErrorRecord record(error);
    return found_event->device->backend->api.event_query(found_event->native, record.get());
  });
}

guf_status guf_event_wait(guf_event event, uint64_t timeout_ns, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Event *found_event = nullptr;
    GUF_TRY(capi::need_event(event, "event", &found_event, error));
    GUF_TRY(backend::check_event(*found_event, error));
    const auto retained = base::Ref<Event>::share(found_event);
    backend::ErrorRecord record(error);
    return after_wait(found_event->device->backend->api.event_synchronize(
        found_event->native, timeout_ns, record.get()));
  });
}

guf_status guf_stream_begin_capture(guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    backend::Stream *found = nullptr;
    GUF_TRY(capi::need_stream(stream, &found, error));
    return backend::begin_capture(*found, error);
  });
}

guf_status guf_stream_end_capture(guf_stream stream, guf_graph *inout_graph, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(inout_graph, "inout_graph", error));
    backend::Stream *found = nullptr;
    GUF_TRY(capi::need_stream(stream, &found, error));
    base::Ref<Graph> graph;
    if (*inout_graph != nullptr) {
      Graph *old = nullptr;
      GUF_TRY(need_graph(*inout_graph, &old, error));
      graph = base::Ref<Graph>::share(old);
    }
    GUF_TRY(backend::end_capture(*found, &graph, error));
    if (*inout_graph == nullptr) *inout_graph = capi::publish<guf_graph>(graph);
    return GUF_OK;
  });
}

guf_status guf_graph_launch(guf_graph graph, guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Graph *work = nullptr;
    backend::Stream *queue = nullptr;
    GUF_TRY(need_graph(graph, &work, error));
    GUF_TRY(capi::need_stream(stream, &queue, error));
    return backend::launch_graph(*work, *queue, error);
  });
}

guf_status guf_graph_retain(guf_graph graph, guf_error *error) {
  return capi::retain(graph, base::Kind::kGraph, "graph", error);
}

guf_status guf_graph_release(guf_graph graph, guf_error *error) {
  return capi::release(graph, base::Kind::kGraph, "graph", error);
}
