// SPDX-License-Identifier: Apache-2.0
// Scenarios with streams, events and graphs, and with the start and shutdown of the plugin.
#include "tests/gpu/fault_scenarios.h"

namespace gufunc::gpu_test {
namespace {

constexpr uint64_t kStreamBytes = 1024;
constexpr unsigned char kSeven[] = {7};
constexpr uint64_t kSoon = 5000000000;  // timeout in nanoseconds that is never reached

void use_streams(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  void *standing = nullptr;
  GUF_TEST_TRY(
      GUF_TEST_CALL(run, owner, stream_open, owner, 0, GUF_BACKEND_STREAM_DEFAULT, &standing));
  GUF_TEST_CLOSE(run, owner, stream_close, standing);
  uint64_t native = 0;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, stream_native, owner, stream.get(), &native));
  const RunStream adopted(run, owner, native);
  GUF_TEST_TRY(adopted.status());
  const RunMemory there(run, owner, kStreamBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  GUF_TEST_TRY(
      GUF_TEST_CALL(run, owner, fill, owner, stream.get(), there.get(), kSeven, 1, kStreamBytes));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_synchronize, stream.get(), kSoon));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_query, stream.get()));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_query, nullptr));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_synchronize, nullptr, UINT64_MAX));
}

// Closes a stream while it is busy. The plugin destroys the native stream later.
void close_a_busy_stream(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunMemory there(run, owner, kStreamBytes);
  GUF_TEST_TRY(there.status());
  RunStream busy(run, owner);
  GUF_TEST_TRY(busy.status());
  const RunEvent done(run, owner);
  GUF_TEST_TRY(done.status());
  guf_status status = GUF_OK;
  for (int i = 0; i < 4 && status == GUF_OK; ++i) {
    status = GUF_TEST_CALL(run, owner, fill, owner, busy.get(), there.get(), kSeven, 1, kStreamBytes);
  }
  if (status == GUF_OK) status = GUF_TEST_CALL(run, owner, event_record, done.get(), busy.get());
  if (status != GUF_OK) {
    wait_for(run, owner, busy.get());
    return;
  }
  busy.close();
  {
    const RunStream next(run, owner);
  }
  const auto wait = [&] {
    return GUF_TEST_CALL(run, owner, event_synchronize, done.get(), UINT64_MAX);
  };
  if (wait() != GUF_OK) wait();  // the work uses the memory, so a failed wait is repeated
}

void use_events(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kStreamBytes, GUF_MEMORY_DEVICE, stream.get());
  GUF_TEST_TRY(there.status());
  const RunEvent begun(run, owner);
  GUF_TEST_TRY(begun.status());
  const RunEvent done(run, owner);
  GUF_TEST_TRY(done.status());
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_record, begun.get(), stream.get()));
  GUF_TEST_TRY(
      GUF_TEST_CALL(run, owner, fill, owner, stream.get(), there.get(), kSeven, 1, kStreamBytes));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_record, done.get(), stream.get()));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, stream_wait_event, nullptr, done.get()));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_synchronize, begun.get(), kSoon));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_synchronize, done.get(), UINT64_MAX));
  GUF_TEST_TRY(GUF_TEST_CALL(run, owner, event_query, done.get()));
  double milliseconds = -1;
  GUF_TEST_TRY(
      GUF_TEST_GPU_CALL(run, owner, event_elapsed, begun.get(), done.get(), &milliseconds));
  EXPECT_GE(milliseconds, 0);
  uint64_t native = 0;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, event_native, done.get(), &native));
}

class RunGraph {
 public:
  // Captures two fills of the memory. A second block is freed during the capture, so this block
  // belongs to the graph.
  RunGraph(Trial &run, void *device, void *stream, uint64_t memory) : run_(run), device_(device) {
    RunMemory scratch(run, device, kStreamBytes, GUF_MEMORY_DEVICE, stream);
    if ((status_ = scratch.status()) != GUF_OK) return;
    status_ = GUF_TEST_GPU_CALL(run, device, capture_begin, device, stream, GUF_GPU_CAPTURE_THREAD);
    if (status_ != GUF_OK) return;
    guf_status queued = GUF_OK;
    for (const uint64_t address : {memory, scratch.get()}) {
      if (queued != GUF_OK) break;
      queued = GUF_TEST_CALL(run, device, fill, device, stream, address, kSeven, 1, kStreamBytes);
    }
    scratch.free();
    status_ = GUF_TEST_GPU_CALL(run, device, capture_end, device, stream, &graph_);
    if (status_ == GUF_OK) status_ = queued;
  }
  ~RunGraph() {
    if (graph_ == nullptr) return;
    run_.close("graph_destroy", device_, [&] { gpu_extension().graph_destroy(graph_); });
  }
  RunGraph(const RunGraph &) = delete;
  RunGraph &operator=(const RunGraph &) = delete;
  void *get() const { return graph_; }
  guf_status status() const { return status_; }

 private:
  Trial &run_;
  void *device_, *graph_ = nullptr;
  guf_status status_;
};

void capture_and_launch(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  const RunStream stream(run, owner);
  GUF_TEST_TRY(stream.status());
  const RunMemory there(run, owner, kStreamBytes);
  GUF_TEST_TRY(there.status());
  const RunGraph graph(run, owner, stream.get(), there.get());
  GUF_TEST_TRY(graph.status());
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_instantiate, graph.get()));
  const RunGraph newer(run, owner, stream.get(), there.get());
  GUF_TEST_TRY(newer.status());
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_update, graph.get(), newer.get()));
  for (int i = 0; i < 2; ++i) {
    GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_launch, graph.get(), stream.get()));
  }
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, owner, graph_launch, newer.get(), stream.get()));
  wait_for(run, owner, stream.get());
}

// Adopts a context of the program. A driver without contexts rejects the context.
void adopt_a_context(Trial &run) {
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  uint64_t native = 0;
  int32_t index = -1;
  GUF_TEST_TRY(GUF_TEST_GPU_CALL(run, device.get(), device_native, device.get(), &native, &index));
  if (native == 0) return;
  const RunDevice again(run, index, native);
  GUF_TEST_TRY(again.status());
}

// Calls slots that need no device, and slots that free the plugin's caches.
void begin_and_end(Trial &run) {
  const void *table = nullptr;
  GUF_TEST_CALL(run, nullptr, extension, "gufunc.gpu", GUF_GPU_EXTENSION_VERSION, &table);
  run.close("builtins", nullptr, [] { plugin().builtins(); });
  int32_t ndevices = 0;
  char driver[64] = "";
  GUF_TEST_CALL(run, nullptr, probe, &ndevices, driver, sizeof(driver));
  const RunDevice device(run, 0);
  GUF_TEST_TRY(device.status());
  void *const owner = device.get();
  {
    const RunStream stream(run, owner);
    GUF_TEST_TRY(stream.status());
    const RunMemory some(run, owner, kStreamBytes);
    GUF_TEST_TRY(some.status());
    const RunMemory pinned(run, owner, kStreamBytes, GUF_MEMORY_PINNED);
    GUF_TEST_TRY(pinned.status());
  }
  GUF_TEST_CALL(run, owner, shutdown, kSoon);
}

}  // namespace

std::vector<Scenario> stream_scenarios() {
  return {{"use streams", use_streams, true},   {"close a busy stream", close_a_busy_stream},
          {"use events", use_events},           {"capture and launch", capture_and_launch},
          {"adopt a context", adopt_a_context}, {"begin and end", begin_and_end, true}};
}

}  // namespace gufunc::gpu_test
