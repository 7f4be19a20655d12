// SPDX-License-Identifier: Apache-2.0
// A captured stream keeps the objects that its work uses, and gives them to the graph as its work.
#include "core/backend/graph.h"

#include "core/backend/gpu_extension.h"
#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

constexpr char kGraphs[] = "graphs";

guf_status fail_capture(const char *text, guf_error *error) {
  return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone, "%s", text);
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
  auto capture = std::make_unique<Capture>();
  ErrorRoom room(error);
  stream.device->captures.fetch_add(1, std::memory_order_acq_rel);
  const guf_status status =
      api->capture_begin(stream.device->native, stream.native, GUF_GPU_CAPTURE_THREAD, room.get());
  if (status != GUF_OK) {
    stream.device->captures.fetch_sub(1, std::memory_order_acq_rel);
    return status;
  }
  stream.capture = std::move(capture);
  return GUF_OK;
}

guf_status end_capture(Stream &stream, base::Ref<Graph> *inout, guf_error *error) {
  if (stream.capture == nullptr) return fail_capture("the stream is not being captured", error);
  const guf_gpu_api *api = nullptr;
  GUF_TRY(gpu_extension(*stream.device, kGraphs, &api, error));
  const std::unique_ptr<Capture> capture = std::move(stream.capture);
  ErrorRoom room(error);
  void *native = nullptr;
  const guf_status ended =
      api->capture_end(stream.device->native, stream.native, &native, room.get());
  stream.device->captures.fetch_sub(1, std::memory_order_acq_rel);
  GUF_TRY(ended);
  auto fresh = base::Ref<Graph>::adopt(new Graph);
  fresh->device = stream.device;
  fresh->native = native;
  fresh->fork_epoch = base::fork_epoch();
  fresh->work = base::Ref<GraphWork>::adopt(new GraphWork);
  fresh->work->kept = std::move(capture->kept);
  if (!*inout) {
    GUF_TRY(api->graph_instantiate(native, room.get()));
    *inout = std::move(fresh);
    return GUF_OK;
  }
  Graph &graph = **inout;
  if (graph.device != stream.device) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                      "the graph is of %s, the stream of %s", graph.device->spec.c_str(),
                      stream.device->spec.c_str());
  }
  GUF_TRY(api->graph_update(graph.native, native, room.get()));
  graph.work = std::move(fresh->work);
  return GUF_OK;
}

guf_status launch_graph(Graph &graph, Stream &stream, guf_error *error) {
  if (graph.device != stream.device) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                      "the graph is of %s, the stream of %s", graph.device->spec.c_str(),
                      stream.device->spec.c_str());
  }
  const guf_gpu_api *api = nullptr;
  GUF_TRY(gpu_extension(*graph.device, kGraphs, &api, error));
  std::vector<base::Ref<base::Object>> used;  // made first: memory may be short
  used.push_back(base::Ref<base::Object>::share(&graph));
  used.push_back(base::Ref<base::Object>::share(graph.work.get()));
  ErrorRoom room(error);
  GUF_TRY(api->graph_launch(graph.native, stream.native, room.get()));
  keep_until_done(stream, std::move(used));
  return GUF_OK;
}

}  // namespace gufunc::backend
