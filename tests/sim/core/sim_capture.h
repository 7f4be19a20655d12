// SPDX-License-Identifier: Apache-2.0
// Stream capture and graphs. While a stream is captured, its operations become nodes of a graph and
// do not run. Callers hold the driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CAPTURE_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CAPTURE_H

#include <memory>
#include <thread>
#include <vector>

#include "tests/sim/core/sim_driver.h"

namespace sim {

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

struct Node {
  Work work;
  std::vector<size_t> behind;  // indices of the nodes that this node depends on
};

// Memory of a captured allocation. It is freed with the graph and all its executable graphs.
struct GraphMemory {
  explicit GraphMemory(Driver &owner) : driver(owner) {}
  GraphMemory(const GraphMemory &) = delete;
  GraphMemory &operator=(const GraphMemory &) = delete;
  ~GraphMemory();
  Driver &driver;
  std::vector<uint64_t> addresses;
};

struct Graph {
  void *handle = nullptr;
  std::vector<Node> nodes;
  std::shared_ptr<GraphMemory> memory;
};

struct GraphExec {
  void *handle = nullptr;
  std::shared_ptr<const std::vector<Node>> nodes;
  std::shared_ptr<GraphMemory> memory;
  Point last;  // the last launch, which the next launch waits for
};

struct Capture {
  CaptureMode mode = CaptureMode::kGlobal;
  std::thread::id thread;
  std::shared_ptr<Stream> origin;
  bool invalid = false;
  Graph graph;
  std::vector<std::shared_ptr<Stream>> joined;  // all participating streams
};

// Queues an operation in a stream, or adds a node to the capture if the stream is being captured.
// Errors  kCaptureInvalidated, kCaptureImplicit
int submit(Driver &driver, const std::shared_ptr<Stream> &stream, Work work);

// Checks a call that is unsafe during a capture. If a capture forbids the call, invalidates the
// capture and returns kCaptureUnsupported. Otherwise returns success.
int refuse_while_capturing(Driver &driver);
// Checks a call that waits for or queries `stream`. If `stream` is being captured, invalidates the
// capture and returns kCaptureUnsupported.
int refuse_captured(const std::shared_ptr<Stream> &stream);

int begin_capture(Driver &driver, const std::shared_ptr<Stream> &stream, int mode);
// Ends the capture without a graph and releases its streams.
void abandon_capture(Driver &driver, const std::shared_ptr<Capture> &capture);
// Stores the captured graph. On error *out_graph is 0 and the result is kCaptureInvalidated,
// kCaptureUnmatched, kCaptureUnjoined, kCaptureWrongThread or kInvalidValue (not capturing).
int end_capture(Driver &driver, const std::shared_ptr<Stream> &stream, void **out_graph);
// Sets the capture mode of this thread to *mode, and stores the previous mode in *mode.
int exchange_mode(int *mode);

int record_event(Driver &driver, const std::shared_ptr<Event> &event,
                 const std::shared_ptr<Stream> &stream);
int wait_event(Driver &driver, const std::shared_ptr<Stream> &stream,
               const std::shared_ptr<Event> &event);

// If the stream is being captured, makes the graph the owner of the allocation at `address`.
void keep_for_graph(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t address);

int instantiate(Driver &driver, const Graph &graph, void **out_exec);
// Returns 0 on success, or the reason why the update is impossible, with numbers that both vendors
// use: 2 topology, 3 node kinds, 4 function.
int update_exec(GraphExec &exec, const Graph &graph);
int launch_graph(Driver &driver, const std::shared_ptr<GraphExec> &exec,
                 const std::shared_ptr<Stream> &stream);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CAPTURE_H
