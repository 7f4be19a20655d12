// SPDX-License-Identifier: Apache-2.0
// Tests streams, events, failures and graphs of a device through the plugin's slots.
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {
namespace {

using DeviceStreams = DeviceCalls;

TEST_F(DeviceStreams, StreamsAreOpenedAdoptedAndClosed) {
  OpenDevice device;
  void *const own = open_stream(device);
  uint64_t native = 0;
  EXPECT_EQ(gpu_extension().stream_native(device, own, &native, &error_), GUF_OK);
  EXPECT_NE(native, 0u);
  void *adopted = nullptr;
  EXPECT_EQ(plugin().stream_open(device, native, 0, &adopted, &error_), GUF_OK) << error_.message;
  plugin().stream_close(adopted);  // does not destroy the native stream
  EXPECT_EQ(plugin().stream_query(own, &error_), GUF_OK) << error_.message;
  plugin().stream_close(own);
  EXPECT_EQ(plugin().stream_open(device, 0, 4, &adopted, &error_), GUF_E_UNSUPPORTED);
  plugin().stream_close(nullptr);
  plugin().event_close(nullptr);
}

// If the program calls hipGetLastError after its own launch, the result must not be the error of a
// driver call that the plugin made.
TEST_F(DeviceStreams, FailuresLeaveNoErrorToTheProgram) {
  OpenDevice device;
  void *const own = open_stream(device);
  uint64_t native = 0;
  EXPECT_EQ(gpu_extension().stream_native(device, own, &native, &error_), GUF_OK);
  EXPECT_EQ(last_error(), 0);
  sim().fault(pick("cuStreamGetCtx:1:709", "hipStreamGetDevice:1:709"));
  void *adopted = nullptr;
  EXPECT_EQ(plugin().stream_open(device, native, 0, &adopted, &error_), GUF_E_HANDLE);
  EXPECT_EQ(error_.native_code, 709);
  EXPECT_EQ(last_error(), 0);
  sim().clear_faults();
  // A query of an unknown address and a query of unfinished work fail inside the driver.
  int32_t index = 0;
  EXPECT_EQ(gpu_extension().memory_device(device, 0x1000, &index, &error_), GUF_OK);
  sim().fault(pick("cuStreamQuery:1:600", "hipStreamQuery:1:600"));
  EXPECT_EQ(plugin().stream_query(own, &error_), GUF_NOT_READY);
  EXPECT_EQ(last_error(), 0);
  sim().clear_faults();
  plugin().stream_close(own);
}

TEST_F(DeviceStreams, AnEventThatWasNeverRecordedIsComplete) {
  OpenDevice device;
  void *const event = open_event(device);
  EXPECT_EQ(plugin().event_query(event, &error_), GUF_OK);
  EXPECT_EQ(plugin().event_synchronize(event, 0, &error_), GUF_OK);
  EXPECT_EQ(plugin().stream_wait_event(nullptr, event, &error_), GUF_OK);
  double milliseconds = 0;
  EXPECT_EQ(gpu_extension().event_elapsed(event, event, &milliseconds, &error_), GUF_E_ARG);
  plugin().event_close(event);
}

TEST_F(DeviceStreams, EventsReportTimeAndOrder) {
  OpenDevice device;
  void *const first = open_stream(device);
  void *const second = open_stream(device);
  void *const begun = open_event(device);
  void *const done = open_event(device);
  std::vector<int> sent(100000, 3), received(100000);
  const uint64_t there = allocate(device, 400000);
  EXPECT_EQ(plugin().event_record(begun, first, &error_), GUF_OK);
  copy(device, first, there, address_of(sent), 400000, GUF_COPY_HOST_TO_DEVICE);
  EXPECT_EQ(plugin().event_record(done, first, &error_), GUF_OK);
  EXPECT_EQ(plugin().stream_wait_event(second, done, &error_), GUF_OK);
  copy(device, second, address_of(received), there, 400000, GUF_COPY_DEVICE_TO_HOST);
  EXPECT_EQ(plugin().stream_synchronize(second, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(sent, received);
  EXPECT_EQ(plugin().event_query(done, &error_), GUF_OK);
  double milliseconds = -1;
  EXPECT_EQ(gpu_extension().event_elapsed(begun, done, &milliseconds, &error_), GUF_OK);
  EXPECT_GE(milliseconds, 0.0);
  free(device, there, 400000);
  for (void *const event : {begun, done}) plugin().event_close(event);
  for (void *const stream : {first, second}) plugin().stream_close(stream);
}

// Every wait returns soon after its timeout, and the work continues.
TEST_F(DeviceStreams, WaitsEndInTime) {
  OpenDevice device;
  void *const stream = open_stream(device);
  void *const event = open_event(device);
  std::vector<int> sent(100, 3);
  const uint64_t there = allocate(device, 400);
  sim().set("DELAY_US", "300000");
  copy(device, stream, there, address_of(sent), 400, GUF_COPY_HOST_TO_DEVICE);
  EXPECT_EQ(plugin().event_record(event, stream, &error_), GUF_OK);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(plugin().stream_synchronize(stream, 20000000, &error_), GUF_TIMEOUT);
  EXPECT_EQ(plugin().event_synchronize(event, 20000000, &error_), GUF_TIMEOUT);
  EXPECT_EQ(plugin().stream_query(stream, &error_), GUF_NOT_READY);
  EXPECT_EQ(plugin().event_query(event, &error_), GUF_NOT_READY);
  const auto waited = std::chrono::steady_clock::now() - start;
  EXPECT_LT(waited, std::chrono::milliseconds(140));
  sim().set("DELAY_US", "0");
  EXPECT_EQ(plugin().event_synchronize(event, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(plugin().stream_synchronize(stream, 5000000000, &error_), GUF_OK);
  free(device, there, 400);
  plugin().event_close(event);
  plugin().stream_close(stream);
}

// Closing a busy stream does not wait, and the queued work still completes.
TEST_F(DeviceStreams, ABusyStreamIsClosedAtOnce) {
  OpenDevice device;
  void *const stream = open_stream(device);
  std::vector<int> sent(100, 3), received(100);
  const uint64_t there = allocate(device, 400, GUF_MEMORY_DEVICE, stream);
  void *const event = open_event(device);
  sim().set("DELAY_US", "200000");
  copy(device, stream, there, address_of(sent), 400, GUF_COPY_HOST_TO_DEVICE);
  copy(device, stream, address_of(received), there, 400, GUF_COPY_DEVICE_TO_HOST);
  EXPECT_EQ(plugin().event_record(event, stream, &error_), GUF_OK);
  free(device, there, 400, GUF_MEMORY_DEVICE, stream);
  const auto start = std::chrono::steady_clock::now();
  plugin().stream_close(stream);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
  sim().set("DELAY_US", "0");
  EXPECT_EQ(plugin().event_synchronize(event, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(sent, received);
  plugin().event_close(event);
}

TEST_F(DeviceStreams, ALostDeviceFailsAtOnceAndFreesSucceed) {
  OpenDevice device;
  void *const stream = open_stream(device);
  void *const event = open_event(device);
  const uint64_t there = allocate(device, 4096);
  sim().fault(pick("cuStreamSynchronize:1:700", "hipStreamSynchronize:1:700"));
  EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(error_.native_code, 700);
  sim().clear_calls();
  uint64_t none = 0;
  error_ = fresh_error();
  EXPECT_EQ(plugin().memory_alloc(device, 8, GUF_MEMORY_DEVICE, nullptr, &none, &error_),
            GUF_E_DEVICE_LOST);
  EXPECT_EQ(error_.native_code, 700);
  EXPECT_EQ(plugin().event_record(event, stream, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(plugin().event_query(event, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(plugin().stream_query(stream, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(plugin().stream_wait_event(stream, event, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(sim().calls(nullptr), 0u);  // the slots report the lost device without a driver call
  free(device, there, 4096);
  plugin().event_close(event);
  plugin().stream_close(stream);
}

TEST_F(DeviceStreams, CapturedWorkRunsAgainAndAgain) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t from = allocate(device, 4096, GUF_MEMORY_PINNED);
  const uint64_t there = allocate(device, 4096);
  const uint64_t to = allocate(device, 4096, GUF_MEMORY_PINNED);
  const guf_gpu_api &gpu = gpu_extension();
  EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_THREAD, &error_), GUF_OK)
      << error_.message;
  uint64_t none = 0;
  EXPECT_EQ(plugin().memory_alloc(device, 64, GUF_MEMORY_DEVICE, stream, &none, &error_),
            GUF_E_CAPTURE);
  std::vector<int> ordinary(10);
  EXPECT_EQ(plugin().copy(device, stream, there, address_of(ordinary), 40, GUF_COPY_HOST_TO_DEVICE,
                          &error_),
            GUF_E_CAPTURE);
  copy(device, stream, there, from, 4096, GUF_COPY_HOST_TO_DEVICE);
  copy(device, stream, to, there, 4096, GUF_COPY_DEVICE_TO_HOST);
  const uint64_t other = allocate(device, 100);  // on the default stream, so it is not captured
  free(device, other, 100);
  void *graph = nullptr;
  EXPECT_EQ(gpu.capture_end(device, stream, &graph, &error_), GUF_OK) << error_.message;
  for (int run = 1; run <= 3; ++run) {
    std::memset(reinterpret_cast<void *>(from), run, 4096);
    EXPECT_EQ(gpu.graph_launch(graph, stream, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
    EXPECT_EQ(reinterpret_cast<const char *>(to)[4095], run);
  }
  gpu.graph_destroy(graph);
  gpu.graph_destroy(nullptr);
  free(device, from, 4096, GUF_MEMORY_PINNED);
  free(device, to, 4096, GUF_MEMORY_PINNED);
  free(device, there, 4096);
  plugin().stream_close(stream);
}

// Memory that is freed on a captured stream stays in use as long as the graph exists.
TEST_F(DeviceStreams, MemoryFreedUnderCaptureBelongsToTheGraph) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const guf_gpu_api &gpu = gpu_extension();
  const uint64_t there = allocate(device, 4096, GUF_MEMORY_DEVICE, stream);
  EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_RELAXED, &error_), GUF_OK);
  const unsigned char pattern[] = {7};
  EXPECT_EQ(plugin().fill(device, stream, there, pattern, 1, 4096, &error_), GUF_OK);
  free(device, there, 4096, GUF_MEMORY_DEVICE, stream);
  void *graph = nullptr;
  EXPECT_EQ(gpu.capture_end(device, stream, &graph, &error_), GUF_OK) << error_.message;
  const uint64_t other = allocate(device, 4096, GUF_MEMORY_DEVICE, stream);
  EXPECT_NE(other, there);
  EXPECT_EQ(gpu.graph_instantiate(graph, &error_), GUF_OK);
  EXPECT_EQ(gpu.graph_launch(graph, nullptr, &error_), GUF_OK);
  gpu.graph_destroy(graph);
  EXPECT_EQ(plugin().stream_synchronize(nullptr, UINT64_MAX, &error_), GUF_OK);
  const uint64_t again = allocate(device, 4096);
  EXPECT_EQ(again, there);
  free(device, again, 4096);
  free(device, other, 4096, GUF_MEMORY_DEVICE, stream);
  plugin().stream_close(stream);
}

// After an update, the graph uses the memory of the newer graph, even if the newer graph is
// destroyed.
TEST_F(DeviceStreams, MemoryOfTheNewerGraphStaysInUseAfterAnUpdate) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const guf_gpu_api &gpu = gpu_extension();
  void *graphs[2] = {};
  uint64_t freed[2] = {};
  const unsigned char pattern[] = {7};
  for (uint64_t &address : freed) address = allocate(device, 4096, GUF_MEMORY_DEVICE, stream);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_RELAXED, &error_), GUF_OK);
    EXPECT_EQ(plugin().fill(device, stream, freed[i], pattern, 1, 4096, &error_), GUF_OK);
    free(device, freed[i], 4096, GUF_MEMORY_DEVICE, stream);
    EXPECT_EQ(gpu.capture_end(device, stream, &graphs[i], &error_), GUF_OK) << error_.message;
  }
  EXPECT_EQ(gpu.graph_launch(graphs[0], nullptr, &error_), GUF_OK);
  EXPECT_EQ(gpu.graph_update(graphs[0], graphs[1], &error_), GUF_OK) << error_.message;
  gpu.graph_destroy(graphs[1]);
  EXPECT_EQ(plugin().stream_synchronize(nullptr, UINT64_MAX, &error_), GUF_OK);
  // The replaced work does not run again, so its memory is free.
  std::set<uint64_t> others;
  for (int i = 0; i < 3; ++i) others.insert(allocate(device, 4096));
  EXPECT_EQ(others.count(freed[0]), 1u);
  EXPECT_EQ(others.count(freed[1]), 0u);
  EXPECT_EQ(gpu.graph_launch(graphs[0], nullptr, &error_), GUF_OK);
  gpu.graph_destroy(graphs[0]);
  EXPECT_EQ(plugin().stream_synchronize(nullptr, UINT64_MAX, &error_), GUF_OK);
  const uint64_t again = allocate(device, 4096);
  EXPECT_EQ(again, freed[1]);
  free(device, again, 4096);
  for (const uint64_t other : others) free(device, other, 4096);
  plugin().stream_close(stream);
}

TEST_F(DeviceStreams, ShutdownFreesCachesAndEverythingStaysCallable) {
  OpenDevice device;
  free(device, allocate(device, 1 << 20), 1 << 20);
  EXPECT_GT(sim().used_bytes(), 0u);
  EXPECT_EQ(plugin().shutdown(1000000000, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(plugin().stream_synchronize(nullptr, UINT64_MAX, &error_), GUF_OK);
  EXPECT_EQ(sim().used_bytes(), 0u);
  free(device, allocate(device, 4096), 4096);
}

TEST_F(DeviceStreams, ThreadsShareADevice) {
  OpenDevice device;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      guf_error error = fresh_error();
      void *stream = nullptr;
      ASSERT_EQ(plugin().stream_open(device, 0, 0, &stream, &error), GUF_OK);
      for (int i = 0; i < 50; ++i) {
        const uint64_t bytes = 64u << (i % 8);
        uint64_t there = 0;
        std::vector<char> sent(bytes, static_cast<char>(t * 50 + i)), received(bytes);
        ASSERT_EQ(plugin().memory_alloc(device, bytes, GUF_MEMORY_DEVICE, stream, &there, &error),
                  GUF_OK);
        plugin().copy(device, stream, there, address_of(sent), bytes, GUF_COPY_HOST_TO_DEVICE,
                      &error);
        plugin().copy(device, stream, address_of(received), there, bytes, GUF_COPY_DEVICE_TO_HOST,
                      &error);
        plugin().memory_free(device, there, bytes, GUF_MEMORY_DEVICE, stream, &error);
        ASSERT_EQ(
            plugin().stream_synchronize(stream, i % 2 == 0 ? UINT64_MAX : 10000000000u, &error),
            GUF_OK);
        ASSERT_EQ(sent, received);
      }
      plugin().stream_close(stream);
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace gufunc::gpu_test
