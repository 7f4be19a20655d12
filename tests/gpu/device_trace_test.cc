// SPDX-License-Identifier: Apache-2.0
// Tests the trace records of a device. The records contain the work of the device's streams with
// the times at which the work ran, and do not contain captured work.
#include <gufunc/backend_trace.h>

#include <cstddef>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {
namespace {

uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Report {
  std::mutex mutex;
  uint64_t queued = 0;
  std::vector<guf_trace_work> done;
  uint64_t unreported = 0;
};

void on_queued(void *context, guf_trace_work *work) {
  auto &report = *static_cast<Report *>(context);
  const std::lock_guard lock(report.mutex);
  work->call = ++report.queued;
  work->queued_ns = now_ns();
}

void on_done(void *context, const guf_trace_work *work) {
  auto &report = *static_cast<Report *>(context);
  const std::lock_guard lock(report.mutex);
  report.done.push_back(*work);
}

void on_unreported(void *context, int32_t device) {
  auto &report = *static_cast<Report *>(context);
  const std::lock_guard lock(report.mutex);
  EXPECT_EQ(device, 0);
  ++report.unreported;
}

const guf_trace_api &trace_extension() {
  const void *table = nullptr;
  guf_error error = fresh_error();
  EXPECT_EQ(opened_plugin().extension("gufunc.trace", GUF_TRACE_EXTENSION_VERSION, &table, &error),
            GUF_OK);
  return *static_cast<const guf_trace_api *>(table);
}

// Records a trace of all devices that are opened while the fixture exists.
class DeviceTrace : public DeviceCalls {
 protected:
  void SetUp() override {
    DeviceCalls::SetUp();
    trace_extension().start(&sink_);
    begun_ = now_ns();
  }
  void TearDown() override {
    trace_extension().start(nullptr);
    sim().set("DELAY_US", "0");
    DeviceCalls::TearDown();
  }

  void wait(void *stream) {
    EXPECT_EQ(plugin().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  }
  void expect_sane_times(uint32_t flags) {
    const uint64_t ended = now_ns();
    for (const guf_trace_work &work : report_.done) {
      EXPECT_LE(begun_, work.queued_ns);
      EXPECT_LE(work.queued_ns, work.begin_ns);
      EXPECT_LE(work.begin_ns, work.end_ns);
      EXPECT_LE(work.end_ns, ended + 1'000'000);
      EXPECT_EQ(work.flags & GUF_TRACE_HOST_TIME, flags);
    }
  }

  Report report_;
  guf_trace_sink sink_ = {sizeof sink_, 0, &report_, on_queued, on_done, on_unreported};
  uint64_t begun_ = 0;
};

TEST_F(DeviceTrace, CopiesAndFills) {
  OpenDevice device;
  void *const stream = open_stream(device), *const other = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  const uint64_t here = allocate(device, 4000, GUF_MEMORY_PINNED);
  const unsigned char zero = 0;
  copy(device, stream, there, here, 4000, GUF_COPY_HOST_TO_DEVICE);
  EXPECT_EQ(plugin().fill(device, stream, there, &zero, 1, 100, &error_), GUF_OK);
  copy(device, stream, here, there, 1000, GUF_COPY_DEVICE_TO_HOST);
  copy(device, stream, there + 2000, there, 500, GUF_COPY_DEVICE_TO_DEVICE);
  wait(stream);
  copy(device, other, here, there, 10, GUF_COPY_DEVICE_TO_HOST);
  wait(other);
  copy(device, nullptr, here, there, 20, GUF_COPY_DEVICE_TO_HOST);
  ASSERT_EQ(report_.done.size(), 6U);
  const struct {
    int32_t kind, direction;
    uint64_t bytes;
  } kWanted[] = {{GUF_TRACE_COPY, GUF_COPY_HOST_TO_DEVICE, 4000},
                 {GUF_TRACE_FILL, 0, 0},
                 {GUF_TRACE_COPY, GUF_COPY_DEVICE_TO_HOST, 1000},
                 {GUF_TRACE_COPY, GUF_COPY_DEVICE_TO_DEVICE, 500},
                 {GUF_TRACE_COPY, GUF_COPY_DEVICE_TO_HOST, 10},
                 {GUF_TRACE_COPY, GUF_COPY_DEVICE_TO_HOST, 20}};
  std::set<uint32_t> streams;
  for (size_t i = 0; i < std::size(kWanted); ++i) {
    const guf_trace_work &work = report_.done[i];
    EXPECT_EQ(work.call, i + 1);
    EXPECT_EQ(work.kind, kWanted[i].kind);
    EXPECT_EQ(work.direction, kWanted[i].direction);
    EXPECT_EQ(work.bytes, kWanted[i].bytes);
    EXPECT_EQ((work.flags & GUF_TRACE_DEFAULT_STREAM) != 0, i == 5);
    streams.insert(work.stream);
    if (i > 0 && work.stream == report_.done[i - 1].stream) {
      EXPECT_LE(report_.done[i - 1].end_ns, work.begin_ns);
    }
  }
  EXPECT_EQ(streams.size(), 3U);
  expect_sane_times(0);
  free(device, there, 4000);
  free(device, here, 4000, GUF_MEMORY_PINNED);
  plugin().stream_close(stream);
  plugin().stream_close(other);
}

TEST_F(DeviceTrace, NothingIsAddedToACapturedStream) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  const guf_gpu_api &gpu = gpu_extension();
  EXPECT_EQ(gpu.capture_begin(device, stream, GUF_GPU_CAPTURE_THREAD, &error_), GUF_OK);
  const char *const record = pick("cuEventRecord", "hipEventRecord");
  const uint64_t records = sim().calls(record);
  copy(device, stream, there + 2000, there, 2000, GUF_COPY_DEVICE_TO_DEVICE);
  EXPECT_EQ(sim().calls(record), records);
  void *graph = nullptr;
  EXPECT_EQ(gpu.capture_end(device, stream, &graph, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(report_.queued, 0U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(gpu.graph_launch(graph, stream, &error_), GUF_OK);
  wait(stream);
  ASSERT_EQ(report_.done.size(), 3U);
  for (const guf_trace_work &work : report_.done) EXPECT_EQ(work.kind, GUF_TRACE_GRAPH);
  expect_sane_times(0);
  gpu.graph_destroy(graph);
  free(device, there, 4000);
  plugin().stream_close(stream);
}

TEST_F(DeviceTrace, PendingRecordsAreBounded) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  sim().set("DELAY_US", "200000");
  const uint64_t events = sim().live("event");
  for (int i = 0; i < 2000; ++i) {
    copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE);
  }
  EXPECT_LE(sim().live("event") - events, 1024U);
  EXPECT_LE(report_.queued, 600U);
  EXPECT_EQ(report_.queued + report_.unreported, 2000U) << "lost records are counted";
  sim().set("DELAY_US", "0");
  wait(stream);
  EXPECT_EQ(report_.done.size(), report_.queued);
  EXPECT_GE(report_.done.size(), 512U);
  copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE);
  wait(stream);
  EXPECT_EQ(report_.done.size(), report_.queued) << "a record is free again";
  expect_sane_times(0);
  free(device, there, 4000);
  plugin().stream_close(stream);
}

TEST_F(DeviceTrace, AnOlderHostsSinkCountsNothing) {
  sink_.struct_size = offsetof(guf_trace_sink, unreported);
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  sim().set("DELAY_US", "200000");
  for (int i = 0; i < 1000; ++i) {
    copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE);
  }
  sim().set("DELAY_US", "0");
  wait(stream);
  EXPECT_LT(report_.queued, 1000U);
  EXPECT_EQ(report_.unreported, 0U);
  free(device, there, 4000);
  plugin().stream_close(stream);
}

// Several threads record events at the same time. The trace records of one stream must not overlap
// in time.
TEST_F(DeviceTrace, WorkOfAStreamDoesNotOverlap) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      guf_error error = fresh_error();
      for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(plugin().copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE,
                                &error),
                  GUF_OK);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  wait(stream);
  EXPECT_EQ(report_.done.size(), 400U);
  for (size_t i = 1; i < report_.done.size(); ++i) {
    ASSERT_LE(report_.done[i - 1].end_ns, report_.done[i].begin_ns) << i;
  }
  free(device, there, 4000);
  plugin().stream_close(stream);
}

TEST_F(DeviceTrace, CollectReportsCompleteWork) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE);
  while (plugin().stream_query(stream, &error_) == GUF_NOT_READY) continue;
  EXPECT_EQ(report_.done.size(), 0U);
  trace_extension().collect();
  EXPECT_EQ(report_.done.size(), 1U);
  free(device, there, 4000);
  plugin().stream_close(stream);
}

// Injects a fault into each driver function that the plugin calls only for traces. The work still
// succeeds, and the trace then contains times that the host measured.
TEST_F(DeviceTrace, WithoutEventsHostTimesAreUsed) {
  for (const char *function :
       {pick("cuEventCreate", "hipEventCreateWithFlags"), pick("cuEventRecord", "hipEventRecord"),
        pick("cuEventElapsedTime", "hipEventElapsedTime")}) {
    sim().fault((std::string(function) + ":0:400").c_str());
    report_.done.clear();
    {
      OpenDevice device;
      void *const stream = open_stream(device);
      const uint64_t there = allocate(device, 4000);
      for (int i = 0; i < 5; ++i) {
        copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE);
      }
      wait(stream);
      EXPECT_EQ(report_.done.size(), 5U) << function;
      expect_sane_times(GUF_TRACE_HOST_TIME);
      sim().clear_faults();
      free(device, there, 4000);
      plugin().stream_close(stream);
    }
  }
}

TEST_F(DeviceTrace, CaptureQueriesMayFail) {
  OpenDevice device;
  void *const stream = open_stream(device);
  const uint64_t there = allocate(device, 4000);
  sim().fault(pick("cuStreamIsCapturing:0:400", "hipStreamIsCapturing:0:400"));
  copy(device, stream, there + 2000, there, 8, GUF_COPY_DEVICE_TO_DEVICE);
  sim().clear_faults();
  wait(stream);
  EXPECT_EQ(report_.done.size(), 0U);
  EXPECT_EQ(report_.unreported, 1U);
  free(device, there, 4000);
  plugin().stream_close(stream);
}

}  // namespace
}  // namespace gufunc::gpu_test
