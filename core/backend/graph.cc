// SPDX-License-Identifier: Apache-2.0
// Graph capture. A captured stream collects the objects that its work uses and
// passes them to the graph. A driver aborts a capture when it rejects an operation,
// so the library rejects such operations first.
#include "core/backend/graph.h"

#include "core/backend/extension.h"
#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

constexpr char kGraphs[] = "graphs";

guf_status fail_capture(const char *text, guf_error *error) {
  return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone, "%s", text);
}

// Detaches the streams from a capture. The streams that joined the capture become ordinary streams
// again.
void part(Stream &stream) {
  const std::shared_ptr<Capture> capture = std::move(stream.capture);
  for (const base::Ref<Stream> &joined : capture->joined) joined->capture.reset();
  stream.device->captures.fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace

Graph::~Graph() {
  if (native == nullptr || fork_epoch != base::fork_epoch()) return;
  const guf_gpu_api *api = nullptr;
  if (gpu_extension(*device, kGraphs, &api, nullptr) == GUF_OK) api->graph_destroy(native);
}

guf_status begin_capture(Stream &stream, guf_error *error) {
  if (stream.capture != nullptr) return fail_capture("the stream is being captured already", error);
  const guf_gpu_api *api = nullptr;
  GUF_TRY(gpu_extension(*stream.device, kGraphs, &api, error));
  auto capture = std::make_shared<Capture>();
  capture->origin = &stream;
  ErrorRecord record(error);
  stream.device->captures.fetch_add(1, std::memory_order_acq_rel);
  // In relaxed mode, any thread may end the capture, and driver calls of other libraries do not
  // invalidate it.
  const guf_status status = api->capture_begin(stream.device->native, stream.native,
                                               GUF_GPU_CAPTURE_RELAXED, record.get());
  if (status != GUF_OK) {
    stream.device->captures.fetch_sub(1, std::memory_order_acq_rel);
    return status;
  }
  stream.capture = std::move(capture);
  return GUF_OK;
}

guf_status end_capture(Stream &stream, base::Ref<Graph> *inout, guf_error *error) {
  if (stream.capture == nullptr) return fail_capture("the stream is not being captured", error);
  if (stream.capture->origin != &stream) {
    return fail_capture(
        "the stream joined the capture of another stream, which must end the capture", error);
  }
  const guf_gpu_api *api = nullptr;
  GUF_TRY(gpu_extension(*stream.device, kGraphs, &api, error));
  const std::shared_ptr<Capture> capture = stream.capture;
  ErrorRecord record(error);
  void *native = nullptr;
  const guf_status ended =
      api->capture_end(stream.device->native, stream.native, &native, record.get());
  part(stream);
  GUF_TRY(ended);
  auto fresh = base::Ref<Graph>::adopt(new Graph);
  fresh->device = stream.device;
  fresh->native = native;
  fresh->fork_epoch = base::fork_epoch();
  fresh->work = base::Ref<GraphWork>::adopt(new GraphWork);
  fresh->work->kept = std::move(capture->kept);
  if (!*inout) {
    GUF_TRY(api->graph_instantiate(native, record.get()));
    *inout = std::move(fresh);
    return GUF_OK;
  }
  Graph &graph = **inout;
  if (graph.device != stream.device) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                      "the graph is of %s, the stream of %s", graph.device->spec.c_str(),
                      stream.device->spec.c_str());
  }
  GUF_TRY(api->graph_update(graph.native, native, record.get()));
  graph.work = std::move(fresh->work);
  return GUF_OK;
}

void abandon_capture(Stream &stream) {
  const guf_gpu_api *api = nullptr;
  void *native = nullptr;
  ErrorRecord record(nullptr);
  if (stream.fork_epoch == base::fork_epoch() &&
      gpu_extension(*stream.device, kGraphs, &api, nullptr) == GUF_OK &&
      api->capture_end(stream.device->native, stream.native, &native, record.get()) == GUF_OK) {
    api->graph_destroy(native);
  }
  part(stream);
}

bool is_captured(const Stream &stream) {
  if (stream.capture != nullptr) return true;
  if (__builtin_expect(!stream.adopted, 1)) return false;
  ErrorRecord record(nullptr);
  return stream.device->backend->api.stream_query(stream.native, record.get()) == GUF_E_CAPTURE;
}

guf_status check_not_captured(const Stream *stream, const char *what, guf_error *error) {
  if (stream == nullptr || !is_captured(*stream)) return GUF_OK;
  return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone,
                    "the stream is being captured, and %s cannot be part of a graph", what);
}

guf_status record_event(Event &event, Stream &stream, guf_error *error) {
  ErrorRecord record(error);
  GUF_TRY(event.device->backend->api.event_record(event.native, stream.native, record.get()));
  event.recorded = true;
  event.captured = stream.capture != nullptr;
  event.capture = stream.capture;
  return GUF_OK;
}

guf_status check_event(const Event &event, guf_error *error) {
  if (__builtin_expect(!event.captured, 1)) return GUF_OK;
  return fail_capture(
      "the event was recorded on a captured stream: it marks a node of a graph and never completes",
      error);
}

guf_status wait_for_event(Stream &stream, Event &event, guf_error *error) {
  if (!event.recorded) return GUF_OK;
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (event.captured && capture == nullptr)
    return fail_capture("the event's capture is over", error);
  if (stream.capture != nullptr && stream.capture != capture) {
    return fail_capture(
        "the stream is being captured: it can wait only for events of the same capture", error);
  }
  if (capture != nullptr && stream.device != event.device) {
    return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone,
                      "the event is of a capture on %s, which a stream of %s cannot join",
                      event.device->spec.c_str(), stream.device->spec.c_str());
  }
  const bool joins = capture != nullptr && stream.capture == nullptr;
  if (joins) capture->joined.reserve(capture->joined.size() + 1);
  ErrorRecord record(error);
  GUF_TRY(stream.device->backend->api.stream_wait_event(stream.native, event.native, record.get()));
  if (!joins) return GUF_OK;
  capture->joined.push_back(base::Ref<Stream>::share(&stream));
  stream.capture = capture;
  return GUF_OK;
}

guf_status launch_graph(Graph &graph, Stream &stream, guf_error *error) {
  GUF_TRY(check_not_captured(&stream, "another graph", error));
  if (graph.device != stream.device) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                      "the graph is of %s, the stream of %s", graph.device->spec.c_str(),
                      stream.device->spec.c_str());
  }
  const guf_gpu_api *api = nullptr;
  GUF_TRY(gpu_extension(*graph.device, kGraphs, &api, error));
  // The list is filled before the launch, because its allocation may fail.
  std::vector<base::Ref<base::Object>> used;
  used.push_back(base::Ref<base::Object>::share(&graph));
  used.push_back(base::Ref<base::Object>::share(graph.work.get()));
  ErrorRecord record(error);
  GUF_TRY(api->graph_launch(graph.native, stream.native, record.get()));
  retain_until_done(stream, std::move(used));
  return GUF_OK;
}

}  // namespace gufunc::backend
