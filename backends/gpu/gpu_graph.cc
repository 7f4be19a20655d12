// SPDX-License-Identifier: Apache-2.0
// Memory that was freed while its stream was captured belongs to the graph: every run uses it.
#include "backends/gpu/gpu_graph.h"

#include <mutex>

#include "backends/gpu/gpu_device.h"

namespace gufunc::gpu {
namespace {

struct Graph {
  explicit Graph(Device &owner) : device(owner) {}

  Device &device;
  std::mutex mutex;  // guards the rest; an executable's runs follow each other anyway
  Native graph = nullptr;
  Native executable = nullptr;
  Native last_run = nullptr;  // an event behind it, once there was one
  Block *memory = nullptr;
};

guf_status make_executable(Graph &graph, guf_error *error) {
  if (graph.executable != nullptr) return GUF_OK;
  Device &device = graph.device;
  return device.check(device.driver().graph_instantiate(graph.graph, &graph.executable),
                      "instantiating a graph", error);
}

guf_status mark_run(Graph &graph, Native stream, guf_error *error) {
  Device &device = graph.device;
  Driver &driver = device.driver();
  if (graph.last_run == nullptr) {
    GUF_GPU_TRY(device.check(driver.event_open(EventKind::kOrder, &graph.last_run),
                             "making an event", error));
  }
  return device.check(driver.event_record(graph.last_run, stream), "recording an event", error);
}

// Behind the last run; the default stream is the one whose guards everybody looks at.
void give_memory_back(Graph &graph) {
  Device &device = graph.device;
  if (graph.memory == nullptr) return;
  Stream &order = device.default_stream();
  if (graph.last_run != nullptr) {
    device.note(device.driver().stream_wait(order.native(), graph.last_run));
  }
  device.pool(Backing::kDevice).give_all(graph.memory, order);
  graph.memory = nullptr;
}

}  // namespace

guf_status capture_begin(void *device, void *stream, int32_t mode, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (mode < kCaptureGlobal || mode > kCaptureRelaxed) {
    return fail(error, GUF_E_UNSUPPORTED, "capture mode: found %d, wanted 0..2", mode);
  }
  Visit visit(owner);
  GUF_GPU_TRY(visit.begin(error));
  const Code code = owner.driver().capture_begin(owner.stream_of(stream).native(),
                                                 static_cast<CaptureMode>(mode));
  return owner.check(code, "beginning a capture", error);
}

guf_status capture_end(void *device, void *stream, void **out_graph, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  Visit visit(owner);
  if (!visit.begin_closing()) return fail_forked(error);
  Stream &order = owner.stream_of(stream);
  Native native = nullptr;
  const bool lost = owner.lost();
  const Code code = owner.driver().capture_end(order.native(), &native);
  // A driver that fails here has ended it, mostly.
  if (code != kDone) owner.drop_capture(order);
  Block *const memory = owner.pool(Backing::kDevice).take_captured(order);
  auto *graph = code == kDone && !lost ? create<Graph>(owner) : nullptr;
  if (graph == nullptr) {
    owner.pool(Backing::kDevice).give_all(memory, order);
    if (code == kDone) owner.note(owner.driver().graph_close(native));
    if (lost) return owner.fail_lost(error);
    return code == kDone ? fail_memory(error, "a graph")
                         : owner.check(code, "ending a capture", error);
  }
  graph->graph = native;
  graph->memory = memory;
  *out_graph = graph;
  return GUF_OK;
}

guf_status graph_instantiate(void *graph, guf_error *error) {
  auto &made = *static_cast<Graph *>(graph);
  Visit visit(made.device);
  GUF_GPU_TRY(visit.begin(error));
  const std::lock_guard lock(made.mutex);
  return make_executable(made, error);
}

// Where the driver cannot change the executable in place a new one is made.
guf_status graph_update(void *graph, void *newer, guf_error *error) {
  auto &kept = *static_cast<Graph *>(graph);
  auto &model = *static_cast<Graph *>(newer);
  if (&kept == &model) return GUF_OK;
  if (&kept.device != &model.device) {
    return fail(error, GUF_E_DEVICE_MISMATCH, "graphs: found two devices, wanted one");
  }
  Device &device = kept.device;
  Visit visit(device);
  GUF_GPU_TRY(visit.begin(error));
  const std::scoped_lock lock(kept.mutex, model.mutex);
  bool updated = false;
  if (kept.executable != nullptr) {
    GUF_GPU_TRY(device.check(device.driver().graph_update(kept.executable, model.graph, &updated),
                             "updating a graph", error));
  }
  if (updated) return GUF_OK;
  Native fresh = nullptr;
  GUF_GPU_TRY(device.check(device.driver().graph_instantiate(model.graph, &fresh),
                           "instantiating a graph", error));
  if (kept.executable != nullptr) device.note(device.driver().executable_close(kept.executable));
  kept.executable = fresh;
  return GUF_OK;
}

guf_status graph_launch(void *graph, void *stream, guf_error *error) {
  auto &run = *static_cast<Graph *>(graph);
  Device &device = run.device;
  Visit visit(device);
  GUF_GPU_TRY(visit.begin(error));
  const std::lock_guard lock(run.mutex);
  GUF_GPU_TRY(make_executable(run, error));
  Stream &order = device.stream_of(stream);
  const Native native = order.native();
  {
    const TraceSpan span(order, GUF_TRACE_GRAPH);
    GUF_GPU_TRY(device.check(device.driver().graph_launch(run.executable, native),
                             "launching a graph", error));
  }
  return mark_run(run, native, error);
}

void graph_destroy(void *graph) {
  if (graph == nullptr) return;
  auto *gone = static_cast<Graph *>(graph);
  Device &device = gone->device;
  {
    Visit visit(device);
    if (!visit.begin_closing()) return;
    give_memory_back(*gone);
    Driver &driver = device.driver();
    if (gone->executable != nullptr) device.note(driver.executable_close(gone->executable));
    if (gone->graph != nullptr) device.note(driver.graph_close(gone->graph));
    if (gone->last_run != nullptr) device.note(driver.event_close(gone->last_run));
  }
  destroy(gone);
}

}  // namespace gufunc::gpu
