// SPDX-License-Identifier: Apache-2.0
// Tests captured work. The work is recorded and does not run during the capture. It can then be
// launched on any stream of the device, and an update can replace it.
#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::ElementsAre;

class Graphs : public Devices {
 protected:
  void TearDown() override {
    for (const guf_graph graph : graphs_) guf_graph_release(graph, nullptr);
    Devices::TearDown();
  }
  void begin(guf_stream stream) {
    ASSERT_EQ(guf_stream_begin_capture(stream, &error_), GUF_OK) << error_.message;
  }
  guf_graph end(guf_stream stream, guf_graph graph = nullptr) {
    const bool fresh = graph == nullptr;
    EXPECT_EQ(guf_stream_end_capture(stream, &graph, &error_), GUF_OK) << error_.message;
    if (fresh) graphs_.push_back(graph);
    return graph;
  }
  void launch(guf_graph graph, guf_stream stream) {
    EXPECT_EQ(guf_graph_launch(graph, stream, &error_), GUF_OK) << error_.message;
  }
  void add(guf_array a, guf_array b, guf_array out, guf_stream stream) {
    EXPECT_EQ(call("add", {operand_of(a), operand_of(b)}, operand_of(out), stream), GUF_OK)
        << error_.message;
  }
  void set(guf_array array, float value) {
    const guf_operand operand = scalar_of(value);
    EXPECT_EQ(guf_array_fill(array, &operand, nullptr, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  }

  std::vector<guf_graph> graphs_;
  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_), other_ = stream(device_);
};

TEST_P(Graphs, RecordQueuedWorkAndRunItWhenLaunched) {
  const guf_array a = filled(device_, 100, 1), b = filled(device_, 100, 2),
                  sum = filled(device_, 100, 0), copied = filled(device_, 100, 0);
  begin(stream_);
  add(a, b, sum, stream_);
  EXPECT_EQ(call("multiply", {operand_of(sum), scalar_of(10)}, operand_of(sum), stream_), GUF_OK);
  EXPECT_EQ(guf_array_assign(copied, sum, GUF_CASTING_DEFAULT, stream_, &error_), GUF_OK);
  const guf_graph graph = end(stream_);
  synchronize(stream_);
  EXPECT_THAT(values(sum), Each(0.0F));  // the captured work did not run
  for (const float value : {1.0F, 5.0F}) {
    for (const guf_stream on : {stream_, other_}) {
      set(a, value);
      set(copied, 0);
      launch(graph, on);
      synchronize(on);
      EXPECT_THAT(values(copied), Each(10 * (value + 2)));
    }
  }
}

TEST_P(Graphs, RunPlansCopiesAndFills) {
  const guf_array x = floats(device_, {1, 2, 3, 4}), y = filled(device_, 4, 0),
                  z = filled(device_, 4, 0), transposed = view(z, -1, -1);
  const guf_ufunc negative = find("negative");
  guf_operand in = operand_of(x), out = operand_of(y);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &in;
  args.outputs = &out;
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(negative, &args, &plan, &error_), GUF_OK) << error_.message;
  guf_array_info from = {}, to = {};
  from.struct_size = to.struct_size = sizeof from;
  guf_array_get_info(x, &from, nullptr);
  guf_array_get_info(y, &to, nullptr);
  const uint64_t addresses[] = {from.address, to.address};
  begin(stream_);
  EXPECT_EQ(guf_plan_launch(plan, stream_, 2, addresses, 0, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_array_assign(transposed, y, GUF_CASTING_DEFAULT, stream_, &error_), GUF_OK);
  const guf_operand six = scalar_of(6);
  EXPECT_EQ(guf_array_fill(y, &six, stream_, &error_), GUF_OK) << error_.message;
  const guf_graph graph = end(stream_);
  launch(graph, other_);
  synchronize(other_);
  EXPECT_THAT(values(z), ElementsAre(-4, -3, -2, -1));
  EXPECT_THAT(values(y), Each(6.0F));
  guf_plan_release(plan, nullptr);
}

TEST_P(Graphs, TakeTheSameWorkWithOtherAddresses) {
  const guf_array a = filled(device_, 50, 1), b = filled(device_, 50, 2),
                  c = filled(device_, 50, 3);
  const guf_array first = filled(device_, 50, 0), second = filled(device_, 50, 0);
  begin(stream_);
  add(a, b, first, stream_);
  const guf_graph graph = end(stream_);
  launch(graph, stream_);
  begin(stream_);
  add(b, c, second, stream_);
  EXPECT_EQ(end(stream_, graph), graph);
  launch(graph, stream_);
  synchronize(stream_);
  EXPECT_THAT(values(first), Each(3.0F));
  EXPECT_THAT(values(second), Each(5.0F));
  // An update of a graph may replace its kernels by others.
  begin(stream_);
  add(c, c, first, stream_);
  add(first, c, first, stream_);
  end(stream_, graph);
  launch(graph, stream_);
  synchronize(stream_);
  EXPECT_THAT(values(first), Each(9.0F));
}

// The launches of one graph run one after the other, even on different streams.
TEST_P(Graphs, RunManyTimesAtOnce) {
  const guf_array one = filled(device_, 64, 1), total = filled(device_, 64, 0);
  begin(stream_);
  add(total, one, total, stream_);
  const guf_graph graph = end(stream_);
  for (int i = 0; i < 10; ++i) launch(graph, i % 2 == 0 ? stream_ : other_);
  synchronize(stream_);
  synchronize(other_);
  EXPECT_THAT(values(total), Each(10.0F));
}

// A stream that waits for an event that was recorded under capture joins the capture until the
// capture ends.
TEST_P(Graphs, BranchByEvents) {
  const guf_array x = filled(device_, 64, 3), left = filled(device_, 64, 0),
                  right = filled(device_, 64, 0), sum = filled(device_, 64, 0);
  const guf_event fork = event(device_), join = event(device_), never = event(device_);
  begin(stream_);
  EXPECT_EQ(guf_stream_wait_event(stream_, never, &error_), GUF_OK) << error_.message;
  add(x, x, left, stream_);
  EXPECT_EQ(guf_event_record(fork, stream_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_wait_event(other_, fork, &error_), GUF_OK) << error_.message;
  add(left, x, left, stream_);
  EXPECT_EQ(call("multiply", {operand_of(x), operand_of(x)}, operand_of(right), other_), GUF_OK)
      << error_.message;
  EXPECT_EQ(guf_stream_query(other_, &error_), GUF_E_CAPTURE);
  EXPECT_EQ(guf_stream_begin_capture(other_, &error_), GUF_E_CAPTURE);
  guf_graph none = nullptr;
  EXPECT_EQ(guf_stream_end_capture(other_, &none, &error_), GUF_E_CAPTURE);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(guf_event_record(join, other_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_wait_event(stream_, join, &error_), GUF_OK) << error_.message;
  add(left, right, sum, stream_);
  const guf_graph graph = end(stream_);
  EXPECT_EQ(guf_stream_query(other_, &error_), GUF_OK) << error_.message;
  launch(graph, other_);
  synchronize(other_);
  EXPECT_THAT(values(sum), Each(18.0F));
  // An event that was recorded under capture is a node of the graph. An event that is then recorded
  // outside a capture is an ordinary event again.
  EXPECT_EQ(guf_event_query(fork, &error_), GUF_E_CAPTURE);
  EXPECT_EQ(guf_event_wait(fork, 0, &error_), GUF_E_CAPTURE);
  EXPECT_EQ(guf_stream_wait_event(other_, fork, &error_), GUF_E_CAPTURE);
  double milliseconds = 0;
  EXPECT_EQ(guf_event_elapsed(fork, join, &milliseconds, &error_), GUF_E_CAPTURE);
  EXPECT_EQ(guf_event_record(fork, stream_, &error_), GUF_OK);
  EXPECT_EQ(guf_stream_wait_event(other_, fork, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_event_wait(fork, UINT64_MAX, &error_), GUF_OK) << error_.message;
}

TEST_P(Graphs, AreOfEveryDevice) {
  NEEDS_TWO_DEVICES();
  const guf_device second = device(1);
  const guf_stream far = stream(second);
  const guf_array a = filled(second, 8, 1), out = filled(second, 8, 0);
  begin(far);
  add(a, a, out, far);
  const guf_graph graph = end(far);
  launch(graph, far);
  synchronize(far);
  EXPECT_THAT(values(out), Each(2.0F));
}

INSTANTIATE_TEST_SUITE_P(On, Graphs, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
