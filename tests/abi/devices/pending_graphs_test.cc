// SPDX-License-Identifier: Apache-2.0
// Tests that running launches of a graph keep their resources after arrays, streams and the graph
// are released.
#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;

constexpr int64_t kSize = 1000;

class PendingGraphs : public Devices {
 protected:
  // Records a graph that writes 10 x to `out`. Only the graph keeps the array of x alive.
  void record(float x, guf_array out, guf_graph *graph) {
    const guf_array in = filled(device_, kSize, x);
    ASSERT_EQ(guf_stream_begin_capture(stream_, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(call("multiply", {operand_of(in), scalar_of(10)}, operand_of(out), stream_), GUF_OK)
        << error_.message;
    ASSERT_EQ(guf_stream_end_capture(stream_, graph, &error_), GUF_OK) << error_.message;
    let_go(in);
  }
  uint64_t live_bytes() {
    guf_poll(0, nullptr, nullptr);
    guf_device_memory memory = {};
    memory.struct_size = sizeof memory;
    EXPECT_EQ(guf_device_get_memory(device_, &memory, &error_), GUF_OK) << error_.message;
    return memory.live_bytes;
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_), other_ = stream(device_);
};

TEST_P(PendingGraphs, SurviveAnUpdate) {
  const guf_array first = filled(device_, kSize, 0), second = filled(device_, kSize, 0);
  guf_graph graph = nullptr;
  record(1, first, &graph);
  Gate gate(backend_, other_);
  ASSERT_EQ(guf_graph_launch(graph, other_, &error_), GUF_OK) << error_.message;
  record(2, second, &graph);  // updates the graph while the launch still runs
  reuse_memory(device_, kSize);
  gate.open();
  ASSERT_EQ(guf_graph_launch(graph, other_, &error_), GUF_OK) << error_.message;
  synchronize(other_);
  EXPECT_THAT(values(first), Each(10.0F));
  EXPECT_THAT(values(second), Each(20.0F));
  guf_graph_release(graph, nullptr);
}

TEST_P(PendingGraphs, SurviveManyUpdates) {
  std::vector<guf_array> outs;
  for (int i = 0; i < 6; ++i) outs.push_back(filled(device_, kSize, 0));
  guf_graph graph = nullptr;
  Gate gate(backend_, other_);
  for (size_t i = 0; i < outs.size(); ++i) {
    record(static_cast<float>(i), outs[i], &graph);
    ASSERT_EQ(guf_graph_launch(graph, other_, &error_), GUF_OK) << error_.message;
    reuse_memory(device_, kSize);
  }
  gate.open();
  synchronize(other_);
  for (size_t i = 0; i < outs.size(); ++i) {
    EXPECT_THAT(values(outs[i]), Each(10.0F * static_cast<float>(i)));
  }
  guf_graph_release(graph, nullptr);
}

TEST_P(PendingGraphs, SurviveTheGraph) {
  const guf_array out = filled(device_, kSize, 0);
  guf_graph graph = nullptr;
  record(4, out, &graph);
  Gate gate(backend_, other_);
  ASSERT_EQ(guf_graph_launch(graph, other_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_graph_release(graph, &error_), GUF_OK);
  EXPECT_EQ(guf_graph_launch(graph, other_, &error_), GUF_E_HANDLE);
  reuse_memory(device_, kSize);
  gate.open();
  synchronize(other_);
  EXPECT_THAT(values(out), Each(40.0F));
}

TEST_P(PendingGraphs, SurviveTheirStream) {
  const guf_array out = filled(device_, kSize, 0);
  guf_graph graph = nullptr;
  record(4, out, &graph);
  const guf_event done = event(device_);
  {
    Gate gate(backend_, other_);
    ASSERT_EQ(guf_graph_launch(graph, other_, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_event_record(done, other_, &error_), GUF_OK) << error_.message;
    std::erase(streams_, other_);
    EXPECT_EQ(guf_stream_release(other_, &error_), GUF_OK);
    EXPECT_EQ(guf_graph_release(graph, &error_), GUF_OK);
    reuse_memory(device_, kSize);
  }
  EXPECT_EQ(guf_event_wait(done, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(values(out), Each(40.0F));
}

// A graph is not part of a reference cycle, so the release of the graph frees its resources.
TEST_P(PendingGraphs, ReleaseMemory) {
  const guf_array out = filled(device_, kSize, 0);
  const uint64_t before = live_bytes();
  guf_graph graph = nullptr;
  record(1, out, &graph);
  EXPECT_GT(live_bytes(), before);
  record(2, out, &graph);
  ASSERT_EQ(guf_graph_launch(graph, other_, &error_), GUF_OK) << error_.message;
  synchronize(other_);
  EXPECT_GT(live_bytes(), before);
  EXPECT_EQ(guf_graph_release(graph, &error_), GUF_OK);
  EXPECT_EQ(live_bytes(), before);
}

// If a stream is released while it is captured, its capture is discarded. The device then frees
// released memory again, and a stream that joined the capture becomes an ordinary stream.
TEST_P(PendingGraphs, AStreamGoesWhileItIsCaptured) {
  const guf_array out = filled(device_, kSize, 0);
  const guf_stream gone = stream(device_);
  const guf_event fork = event(device_);
  const uint64_t before = live_bytes();
  const guf_array in = filled(device_, kSize, 3);
  ASSERT_EQ(guf_stream_begin_capture(gone, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(call("negative", {operand_of(in)}, operand_of(out), gone), GUF_OK) << error_.message;
  EXPECT_EQ(guf_event_record(fork, gone, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_wait_event(other_, fork, &error_), GUF_OK) << error_.message;
  let_go(in);
  EXPECT_GT(live_bytes(), before);
  std::erase(streams_, gone);
  EXPECT_EQ(guf_stream_release(gone, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(live_bytes(), before);
  EXPECT_EQ(guf_stream_query(other_, &error_), GUF_OK) << error_.message;
  {
    Gate gate(backend_, other_);
    const guf_array more = filled(device_, kSize, 3);
    ASSERT_EQ(call("negative", {operand_of(more)}, operand_of(out), other_), GUF_OK);
    let_go(more);
  }
  synchronize(other_);
  EXPECT_EQ(live_bytes(), before);
  EXPECT_THAT(values(out), Each(-3.0F));
}

INSTANTIATE_TEST_SUITE_P(On, PendingGraphs, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
