// SPDX-License-Identifier: Apache-2.0
// A graph owns the memory that was freed while its stream was captured, because every run
// of the graph uses the memory. A graph also owns the status words of its kernels. After
// graph_update, the updated graph and the graph that provided the new work contain the same work,
// and share the freed memory and the status words.
#include "backends/gpu/runtime/gpu_plugin.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"

namespace gufunc::gpu {
namespace {

// The status words of captured work. Several graphs may share them after graph_update.
struct StatusWords {
  explicit StatusWords(StatusSlot *all) : first(all) {}

  StatusSlot *const first;  // a list, in the order in which the words were captured
  std::atomic<uint32_t> references{1};
  std::mutex mutex;  // locked from the launch of a run until its checks are queued
  // An event after the last checks, or NULL before the first run.
  Native checked = nullptr;
};

// The memory that captured work uses. Several graphs may share it after graph_update.
struct WorkMemory {
  explicit WorkMemory(Block *all) : blocks(all) {}

  Block *const blocks;
  std::atomic<uint32_t> references{1};
};

struct Graph {
  explicit Graph(Device &owner) : device(owner) {}

  Device &device;
  // Protects the members below. Launches of one graph wait for each other at this mutex, which
  // costs nothing, because the driver does not run an executable twice at the same time.
  std::mutex mutex;
  Native graph = nullptr;
  Native executable = nullptr;
  Native last_run = nullptr;     // event after the last run, or NULL
  WorkMemory *memory = nullptr;  // NULL: no memory was freed during the capture
  StatusWords *words = nullptr;  // NULL: the graph's work cannot fail
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
    GUF_BACKEND_TRY(device.check(driver.event_open(EventKind::kUntimed, &graph.last_run),
                                 "creating an event", error));
  }
  return device.check(driver.event_record(graph.last_run, stream), "recording an event", error);
}

guf_status launch_work(Graph &graph, Stream &stream, guf_error *error) {
  Device &device = graph.device;
  return device.check(device.driver().graph_launch(graph.executable, stream.native()),
                      "launching a graph", error);
}

// Releases the graph's share of the memory after the graph's last run. Uses the default stream,
// because its fences are polled most often. The default stream waits for the runs of each graph
// that shares the memory, so the last of these graphs releases the memory after all runs.
void release_memory(Graph &graph) {
  Device &device = graph.device;
  WorkMemory *const memory = std::exchange(graph.memory, nullptr);
  if (memory == nullptr) return;
  Stream &stream = device.default_stream();
  if (graph.last_run != nullptr) {
    device.check_for_loss(device.driver().stream_wait(stream.native(), graph.last_run));
  }
  if (memory->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  device.pool(Backing::kDevice).release_captured(memory->blocks, stream);
  destroy(memory);
}

// Releases the status words after their last checks.
void drop_words(Device &device, StatusWords *words) {
  if (words == nullptr || words->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Stream &stream = device.default_stream();
  if (words->checked != nullptr) {
    device.check_for_loss(device.driver().stream_wait(stream.native(), words->checked));
  }
  device.status_ring().recycle(words->first, words->checked == nullptr ? nullptr : &stream);
  if (words->checked != nullptr) device.check_for_loss(device.driver().event_close(words->checked));
  destroy(words);
}

// Makes the stream wait for the checks of the last run, runs the graph's work and queues the checks
// of this run. A run clears the status words at its start, so the earlier checks must be complete.
guf_status run_checked(Graph &graph, Stream &stream, guf_error *error) {
  Device &device = graph.device;
  Driver &driver = device.driver();
  StatusWords &words = *graph.words;
  const std::lock_guard lock(words.mutex);
  if (words.checked == nullptr) {
    GUF_BACKEND_TRY(device.check(driver.event_open(EventKind::kUntimed, &words.checked),
                                 "creating an event", error));
  } else {
    GUF_BACKEND_TRY(device.check(driver.stream_wait(stream.native(), words.checked),
                                 "waiting for a graph's last run", error));
  }
  GUF_BACKEND_TRY(launch_work(graph, stream, error));
  const guf_status queued =
      device.status_ring().queue_graph_checks(words.first, stream, stream.next_launch(), error);
  const Code recorded = driver.event_record(words.checked, stream.native());
  guf_error *const first_error = queued == GUF_OK ? error : nullptr;
  const guf_status checked = device.check(recorded, "recording an event", first_error);
  const guf_status marked =
      mark_run(graph, stream.native(), checked == GUF_OK ? first_error : nullptr);
  if (queued != GUF_OK) return queued;
  return checked != GUF_OK ? checked : marked;
}

// Makes `kept` share the memory of `model`, which has the same work.
void share_memory(Graph &kept, const Graph &model) {
  if (kept.memory == model.memory) return;
  release_memory(kept);
  kept.memory = model.memory;
  if (kept.memory != nullptr) kept.memory->references.fetch_add(1, std::memory_order_relaxed);
}

// Makes `kept` share the status words of `model`, which has the same work.
void share_words(Graph &kept, const Graph &model) {
  if (kept.words == model.words) return;
  drop_words(kept.device, kept.words);
  kept.words = model.words;
  if (kept.words != nullptr) kept.words->references.fetch_add(1, std::memory_order_relaxed);
}

// Runs the graph's work. The run has started even if queueing its checks fails, so the event after
// the run is recorded in both cases. The next use of the memory waits for this event.
guf_status run_work(Graph &graph, Stream &stream, guf_error *error) {
  if (graph.words != nullptr) return run_checked(graph, stream, error);
  GUF_BACKEND_TRY(launch_work(graph, stream, error));
  return mark_run(graph, stream.native(), error);
}

// Makes a graph that owns the memory and the status words of a capture. If there is no host memory,
// returns NULL, and the caller remains the owner of both.
Graph *make_graph(Device &device, Block *memory, StatusSlot *words) {
  auto *const graph = create<Graph>(device);
  if (graph == nullptr) return nullptr;
  if (memory != nullptr) graph->memory = create<WorkMemory>(memory);
  if (words != nullptr) graph->words = create<StatusWords>(words);
  const bool complete = (memory == nullptr || graph->memory != nullptr) &&
                        (words == nullptr || graph->words != nullptr);
  if (complete) return graph;
  if (graph->memory != nullptr) destroy(graph->memory);
  if (graph->words != nullptr) destroy(graph->words);
  destroy(graph);
  return nullptr;
}

}  // namespace

guf_status capture_begin(void *device, void *stream, int32_t mode, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  if (mode < kCaptureGlobal || mode > kCaptureRelaxed) {
    return fail(error, GUF_E_UNSUPPORTED, "capture mode: expected 0..2, got %d", mode);
  }
  ScopedContext scope(owner);
  GUF_BACKEND_TRY(scope.begin(error));
  const Code code = owner.driver().capture_begin(owner.stream_of(stream).native(),
                                                 static_cast<CaptureMode>(mode));
  GUF_BACKEND_TRY(owner.check(code, "beginning a capture", error));
  const guf_status status = owner.captures().open(owner.stream_of(stream), error);
  if (status != GUF_OK) owner.drop_capture(owner.stream_of(stream));
  return status;
}

guf_status capture_end(void *device, void *stream, void **out_graph, guf_error *error) {
  auto &owner = *static_cast<Device *>(device);
  ScopedContext scope(owner);
  if (!scope.begin_closing()) return fail_forked(error);
  Stream &target = owner.stream_of(stream);
  Native native = nullptr;
  const bool lost = owner.lost();
  const Code code = owner.driver().capture_end(target.native(), &native);
  // A driver that reports an error here has usually ended the capture. drop_capture() ends the
  // capture if it is still active.
  if (code != kDone) owner.drop_capture(target);
  Block *const memory = owner.pool(Backing::kDevice).take_captured(target);
  StatusSlot *const words = owner.captures().close(target);
  Graph *const graph = code == kDone && !lost ? make_graph(owner, memory, words) : nullptr;
  if (graph == nullptr) {
    owner.pool(Backing::kDevice).release_captured(memory, target);
    owner.status_ring().recycle(words, nullptr);
    if (code == kDone) owner.check_for_loss(owner.driver().graph_close(native));
    if (lost) return owner.fail_lost(error);
    return code == kDone ? fail_memory(error, "a graph")
                         : owner.check(code, "ending a capture", error);
  }
  graph->graph = native;
  *out_graph = graph;
  return GUF_OK;
}

guf_status graph_instantiate(void *graph, guf_error *error) {
  auto &made = *static_cast<Graph *>(graph);
  ScopedContext scope(made.device);
  GUF_BACKEND_TRY(scope.begin(error));
  const std::lock_guard lock(made.mutex);
  return make_executable(made, error);
}

// Replaces the work of a graph. If the driver cannot update
// the executable, a new one is instantiated.
guf_status graph_update(void *graph, void *newer, guf_error *error) {
  auto &kept = *static_cast<Graph *>(graph);
  auto &model = *static_cast<Graph *>(newer);
  if (&kept == &model) return GUF_OK;
  if (&kept.device != &model.device) {
    return fail(error, GUF_E_DEVICE_MISMATCH, "graphs: expected one device, got two");
  }
  Device &device = kept.device;
  ScopedContext scope(device);
  GUF_BACKEND_TRY(scope.begin(error));
  const std::scoped_lock lock(kept.mutex, model.mutex);
  bool updated = false;
  if (kept.executable != nullptr) {
    GUF_BACKEND_TRY(
        device.check(device.driver().graph_update(kept.executable, model.graph, &updated),
                     "updating a graph", error));
  }
  if (!updated) {
    Native fresh = nullptr;
    GUF_BACKEND_TRY(device.check(device.driver().graph_instantiate(model.graph, &fresh),
                                 "instantiating a graph", error));
    if (kept.executable != nullptr)
      device.check_for_loss(device.driver().executable_close(kept.executable));
    kept.executable = fresh;
  }
  share_memory(kept, model);
  share_words(kept, model);
  return GUF_OK;
}

guf_status graph_launch(void *graph, void *stream, guf_error *error) {
  auto &queued = *static_cast<Graph *>(graph);
  Device &device = queued.device;
  ScopedContext scope(device);
  GUF_BACKEND_TRY(scope.begin(error));
  const std::lock_guard lock(queued.mutex);
  GUF_BACKEND_TRY(make_executable(queued, error));
  Stream &target = device.stream_of(stream);
  const TraceSpan span(target, GUF_TRACE_GRAPH);
  return run_work(queued, target, error);
}

void graph_destroy(void *graph) {
  if (graph == nullptr) return;
  auto *gone = static_cast<Graph *>(graph);
  Device &device = gone->device;
  {
    ScopedContext scope(device);
    if (!scope.begin_closing()) return;
    release_memory(*gone);
    drop_words(device, gone->words);
    Driver &driver = device.driver();
    if (gone->executable != nullptr)
      device.check_for_loss(driver.executable_close(gone->executable));
    if (gone->graph != nullptr) device.check_for_loss(driver.graph_close(gone->graph));
    if (gone->last_run != nullptr) device.check_for_loss(driver.event_close(gone->last_run));
  }
  destroy(gone);
}

}  // namespace gufunc::gpu
