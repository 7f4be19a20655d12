// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_capture.h"

#include <algorithm>
#include <chrono>

#include "tests/sim/core/sim_device_memory.h"

namespace sim {
namespace {

CaptureMode &thread_mode() {
  thread_local CaptureMode mode = CaptureMode::kGlobal;
  return mode;
}

void invalidate(Capture &capture) {
  capture.invalid = true;
}

double now_milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Rejects a call on the legacy stream while a stream that the legacy stream would wait for is being
// captured.
int refuse_legacy(Driver &driver, const Stream &stream) {
  if (!stream.is_legacy) return kSuccess;
  for (const auto &capture : driver.captures) {
    for (const auto &joined : capture->joined) {
      if (joined->context == stream.context && joined->blocking) {
        invalidate(*capture);
        return kCaptureImplicit;
      }
    }
  }
  return kSuccess;
}

// Returns whether every node is in `tail` or is a direct or indirect dependency of `tail`.
bool all_joined(const Graph &graph, const std::vector<size_t> &tail) {
  std::vector<bool> seen(graph.nodes.size());
  std::vector<size_t> open = tail;
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    const auto &behind = graph.nodes[node].behind;
    open.insert(open.end(), behind.begin(), behind.end());
  }
  return std::all_of(seen.begin(), seen.end(), [](bool one) { return one; });
}

// Adds the stream to the capture of an event for which the stream waits.
int join_capture(const std::shared_ptr<Stream> &stream, const Event &event) {
  Capture &capture = *event.capture;
  if (capture.invalid) return kCaptureInvalidated;
  if (stream->capture != nullptr && stream->capture != event.capture) {
    invalidate(*stream->capture);
    invalidate(capture);
    return kCaptureMerge;
  }
  if (stream->is_legacy) {
    invalidate(capture);
    return kCaptureImplicit;
  }
  if (stream->capture == nullptr) {
    stream->capture = event.capture;
    stream->capture_tail.clear();
    capture.joined.push_back(stream);
  }
  for (const size_t node : event.capture_tail) {
    if (std::find(stream->capture_tail.begin(), stream->capture_tail.end(), node) ==
        stream->capture_tail.end()) {
      stream->capture_tail.push_back(node);
    }
  }
  return kSuccess;
}

}  // namespace

GraphMemory::~GraphMemory() {
  for (const uint64_t address : addresses) forget_allocation(driver, address);
}

int submit(Driver &driver, const std::shared_ptr<Stream> &stream, Work work) {
  if (stream->capture == nullptr) {
    const int refused = refuse_legacy(driver, *stream);
    if (refused == kSuccess) driver.engine.enqueue(stream, std::move(work));
    return refused;
  }
  if (stream->capture->invalid) return kCaptureInvalidated;
  std::vector<Node> &nodes = stream->capture->graph.nodes;
  nodes.push_back({std::move(work), stream->capture_tail});
  stream->capture_tail = {nodes.size() - 1};
  return kSuccess;
}

int refuse_while_capturing(Driver &driver) {
  if (thread_mode() == CaptureMode::kRelaxed) return kSuccess;
  for (const auto &capture : driver.captures) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool strict =
        own ? capture->mode != CaptureMode::kRelaxed
            : capture->mode == CaptureMode::kGlobal && thread_mode() == CaptureMode::kGlobal;
    if (strict) {
      invalidate(*capture);
      return kCaptureUnsupported;
    }
  }
  return kSuccess;
}

int refuse_captured(const std::shared_ptr<Stream> &stream) {
  if (stream->capture == nullptr) return kSuccess;
  invalidate(*stream->capture);
  return kCaptureUnsupported;
}

int begin_capture(Driver &driver, const std::shared_ptr<Stream> &stream, int mode) {
  if (mode < 0 || mode > 2) return kInvalidValue;
  if (stream->is_legacy) return kCaptureUnsupported;
  if (stream->capture != nullptr) return kCaptureUnsupported;
  auto capture = std::make_shared<Capture>();
  capture->mode = static_cast<CaptureMode>(mode);
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  capture->joined = {stream};
  stream->capture = capture;
  stream->capture_tail.clear();
  driver.captures.push_back(capture);
  return kSuccess;
}

void abandon_capture(Driver &driver, const std::shared_ptr<Capture> &capture) {
  for (const auto &one : capture->joined) {
    one->capture = nullptr;
    one->capture_tail.clear();
  }
  std::erase(driver.captures, capture);
  capture->joined.clear();
  capture->origin = nullptr;
}

int end_capture(Driver &driver, const std::shared_ptr<Stream> &stream, void **out_graph) {
  *out_graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return kInvalidValue;
  if (capture->mode != CaptureMode::kRelaxed && capture->thread != std::this_thread::get_id()) {
    return kCaptureWrongThread;
  }
  if (capture->origin != stream) {
    invalidate(*capture);
    return kCaptureUnmatched;
  }
  const bool joined = all_joined(capture->graph, stream->capture_tail);
  abandon_capture(driver, capture);
  if (capture->invalid) return kCaptureInvalidated;
  if (!joined) return kCaptureUnjoined;
  auto graph = std::make_shared<Graph>(std::move(capture->graph));
  graph->handle = driver.new_handle();
  *out_graph = driver.graphs.add(graph->handle, graph);
  return kSuccess;
}

int exchange_mode(int *mode) {
  if (*mode < 0 || *mode > 2) return kInvalidValue;
  const int before = static_cast<int>(thread_mode());
  thread_mode() = static_cast<CaptureMode>(*mode);
  *mode = before;
  return kSuccess;
}

int record_event(Driver &driver, const std::shared_ptr<Event> &event,
                 const std::shared_ptr<Stream> &stream) {
  if (stream->capture != nullptr) {
    if (stream->capture->invalid) return kCaptureInvalidated;
    event->capture = stream->capture;
    event->capture_tail = stream->capture_tail;
    event->recorded = true;
    return kSuccess;
  }
  const int refused = refuse_legacy(driver, *stream);
  if (refused != kSuccess) return refused;
  event->capture = nullptr;
  event->recorded = true;
  const uint64_t generation = ++event->generation;
  Work work = {WorkKind::kRecord, [&driver, event, generation] {
                 const double now = now_milliseconds();
                 const Lock lock(driver.mutex);
                 if (generation > event->done_generation) {
                   event->done_generation = generation;
                   event->milliseconds = now;
                 }
                 return static_cast<int>(kSuccess);
               }};
  event->point = driver.engine.enqueue(stream, std::move(work));
  return kSuccess;
}

int wait_event(Driver &driver, const std::shared_ptr<Stream> &stream,
               const std::shared_ptr<Event> &event) {
  if (event->capture != nullptr) return join_capture(stream, *event);
  if (stream->capture != nullptr) {
    if (!event->recorded) return kSuccess;
    invalidate(*stream->capture);
    return kCaptureIsolation;
  }
  const int refused = refuse_legacy(driver, *stream);
  if (refused != kSuccess || !event->recorded) return refused;
  driver.engine.enqueue(stream, {WorkKind::kWait, [] { return static_cast<int>(kSuccess); }},
                        {event->point});
  return kSuccess;
}

void keep_for_graph(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t address) {
  std::shared_ptr<GraphMemory> &memory = stream->capture->graph.memory;
  if (memory == nullptr) memory = std::make_shared<GraphMemory>(driver);
  memory->addresses.push_back(address);
}

int instantiate(Driver &driver, const Graph &graph, void **out_exec) {
  auto exec = std::make_shared<GraphExec>();
  exec->handle = driver.new_handle();
  exec->nodes = std::make_shared<const std::vector<Node>>(graph.nodes);
  exec->memory = graph.memory;
  *out_exec = driver.graph_execs.add(exec->handle, exec);
  return kSuccess;
}

int update_exec(GraphExec &exec, const Graph &graph) {
  const std::vector<Node> &old = *exec.nodes;
  if (old.size() != graph.nodes.size()) return 2;
  for (size_t i = 0; i < old.size(); ++i) {
    const Node &now = graph.nodes[i];
    if (old[i].behind != now.behind) return 2;
    if (old[i].work.kind != now.work.kind) return 3;
    if (old[i].work.what != now.work.what) return 4;
  }
  exec.nodes = std::make_shared<const std::vector<Node>>(graph.nodes);
  return 0;
}

int launch_graph(Driver &driver, const std::shared_ptr<GraphExec> &exec,
                 const std::shared_ptr<Stream> &stream) {
  if (stream->capture != nullptr) return refuse_captured(stream);
  const bool shuffled = driver.config.order == Order::kAdversarial;
  const uint64_t seed = shuffled ? driver.engine.random()() : 0;
  Work work = {WorkKind::kGraph, [nodes = exec->nodes, memory = exec->memory, shuffled, seed] {
                 std::mt19937_64 random(seed);
                 std::vector<bool> done(nodes->size());
                 for (size_t count = 0; count < nodes->size(); ++count) {
                   // Every node follows the nodes that it depends on, so at least one node is
                   // always ready.
                   std::vector<size_t> ready;
                   for (size_t i = 0; i < nodes->size() && (shuffled || ready.empty()); ++i) {
                     const auto &behind = (*nodes)[i].behind;
                     const bool free = std::all_of(behind.begin(), behind.end(),
                                                   [&](size_t n) { return done[n]; });
                     if (!done[i] && free) ready.push_back(i);
                   }
                   const size_t chosen = ready[shuffled ? random() % ready.size() : 0];
                   const bool host = (*nodes)[chosen].work.kind == WorkKind::kHost;
                   if (host) Engine::set_in_host_function(true);
                   const int code = (*nodes)[chosen].work.run();
                   if (host) Engine::set_in_host_function(false);
                   if (code != kSuccess) return code;
                   done[chosen] = true;
                 }
                 return static_cast<int>(kSuccess);
               }};
  exec->last = driver.engine.enqueue(stream, std::move(work), {exec->last});
  return kSuccess;
}

}  // namespace sim
