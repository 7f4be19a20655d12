// SPDX-License-Identifier: Apache-2.0
// Tests captured work: graphs, and streams that the program captures itself.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Tests captured work. The work is recorded and does not run during the capture. It can then be
// launched on any stream of the device, and an update can replace it.

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

// Tests captured loops that can fail. If a loop fails during a launch of a graph, the stream on
// which the graph was launched reports the failure. A loop stores its failure in a status word,
// which the library reads after the loop.

constexpr char kNegative[] = "Integers to negative integer powers are not allowed.";

class GraphFailures : public Devices {
 protected:
  static constexpr int64_t kSize = 300;
  void TearDown() override {
    for (const guf_graph graph : graphs_) guf_graph_release(graph, nullptr);
    Devices::TearDown();
  }
  guf_array integers(int64_t value) {
    const guf_array array = empty(device_, {kSize}, GUF_I64);
    set(array, value, nullptr);
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
    return array;
  }
  void set(guf_array array, int64_t value, guf_stream on) {
    const guf_operand operand = weak_int_of(value);
    EXPECT_EQ(guf_array_fill(array, &operand, on, &error_), GUF_OK) << error_.message;
  }
  guf_status power(guf_array exponents, guf_stream on) {
    return call("power", {operand_of(base_), operand_of(exponents)}, operand_of(out_), on);
  }
  guf_plan power_plan(guf_array x, guf_array y, guf_array out) {
    guf_operand in[] = {operand_of(x), operand_of(y)}, to = operand_of(out);
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = in;
    args.outputs = &to;
    guf_plan plan = nullptr;
    EXPECT_EQ(guf_plan_create(find("power"), &args, &plan, &error_), GUF_OK) << error_.message;
    return plan;
  }
  static uint64_t address(guf_array array) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(guf_array_get_info(array, &info, nullptr), GUF_OK);
    return info.address;
  }
  void begin() { ASSERT_EQ(guf_stream_begin_capture(stream_, &error_), GUF_OK) << error_.message; }
  guf_graph end(guf_graph graph = nullptr) {
    const bool fresh = graph == nullptr;
    EXPECT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
    if (fresh) graphs_.push_back(graph);
    return graph;
  }
  guf_graph powers_of(guf_array exponents, guf_graph graph = nullptr) {
    begin();
    EXPECT_EQ(power(exponents, stream_), GUF_OK) << error_.message;
    return end(graph);
  }
  void launch(guf_graph graph, guf_stream on) {
    EXPECT_EQ(guf_graph_launch(graph, on, &error_), GUF_OK) << error_.message;
  }
  guf_status wait(guf_stream on) {
    error_ = fresh_error();
    return guf_stream_synchronize(on, UINT64_MAX, &error_);
  }

  std::vector<guf_graph> graphs_;
  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_), other_ = stream(device_);
  const guf_array base_ = integers(3), out_ = integers(0);
};

TEST_P(GraphFailures, AreReportedOnceByTheStreamOfTheRun) {
  const guf_array exponents = integers(2);
  const guf_graph graph = powers_of(exponents);
  for (const guf_stream on : {stream_, other_, stream_}) {
    launch(graph, on);
    EXPECT_EQ(wait(on), GUF_OK) << error_.message;
    set(exponents, -1, on);
    launch(graph, on);
    EXPECT_EQ(wait(on), GUF_E_VALUE);
    EXPECT_THAT(error_.message, HasSubstr(kNegative));
    EXPECT_EQ(wait(on), GUF_OK) << error_.message;
    EXPECT_EQ(wait(on == stream_ ? other_ : stream_), GUF_OK) << error_.message;
    set(exponents, 2, on);
    EXPECT_EQ(wait(on), GUF_OK) << error_.message;
  }
}

// In each round, the first launch of the graph fails because of an invalid exponent. The graph then
// replaces the exponent, so the second launch succeeds. The second launch clears the status word,
// so it must not start before the library has read the status word of the first launch.
TEST_P(GraphFailures, OfOneRunDoNotAffectTheNext) {
  const guf_array exponents = integers(-1);
  begin();
  EXPECT_EQ(power(exponents, stream_), GUF_OK) << error_.message;
  set(exponents, 1, stream_);
  const guf_graph graph = end();
  for (int i = 0; i < 50; ++i) {
    set(exponents, -1, stream_);
    EXPECT_EQ(wait(stream_), GUF_OK) << error_.message;
    launch(graph, stream_);
    launch(graph, other_);
    EXPECT_EQ(wait(other_), GUF_OK) << error_.message;
    EXPECT_EQ(wait(stream_), GUF_E_VALUE) << i;
  }
}

TEST_P(GraphFailures, OfBranchesAndOfPlans) {
  const guf_array exponents = integers(2), wrong = integers(-2);
  const guf_plan plan = power_plan(base_, exponents, out_);
  const guf_event fork = event(device_), join = event(device_);
  for (const bool fails : {true, false}) {
    const uint64_t addresses[] = {address(base_), address(fails ? wrong : exponents),
                                  address(out_)};
    begin();
    EXPECT_EQ(guf_event_record(fork, stream_, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_stream_wait_event(other_, fork, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_plan_launch(plan, other_, 3, addresses, 0, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_event_record(join, other_, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_stream_wait_event(stream_, join, &error_), GUF_OK) << error_.message;
    const guf_graph graph = end();
    for (int i = 0; i < 2; ++i) {
      launch(graph, stream_);
      EXPECT_EQ(wait(stream_), fails ? GUF_E_VALUE : GUF_OK) << error_.message;
      EXPECT_EQ(wait(other_), GUF_OK) << error_.message;
    }
  }
  guf_plan_release(plan, nullptr);
}

// An update replaces the work of a graph while the old work runs. If the old work fails, the stream
// must still report the failure.
TEST_P(GraphFailures, FollowTheWork) {
  const guf_array right = integers(2), wrong = integers(-1);
  const guf_graph graph = powers_of(wrong);
  for (int i = 0; i < 4; ++i) {
    {
      Gate gate(backend_, other_);
      launch(graph, other_);
      powers_of(i % 2 == 0 ? right : wrong, graph);
    }
    EXPECT_EQ(wait(other_), i % 2 == 0 ? GUF_E_VALUE : GUF_OK) << i << error_.message;
  }
}

// When a graph is destroyed or a capture is abandoned, its status words must be freed.
TEST_P(GraphFailures, LeaveNothingBehind) {
  const guf_array exponents = integers(2);
  launch(powers_of(exponents), stream_);
  EXPECT_EQ(wait(stream_), GUF_OK) << error_.message;
  const uint64_t pinned = sim().live("pinned");
  for (int i = 0; i < 600; ++i) {
    guf_graph graph = nullptr;
    begin();
    EXPECT_EQ(power(exponents, stream_), GUF_OK) << error_.message;
    ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
    if (i % 2 == 0) launch(graph, stream_);
    guf_graph_release(graph, nullptr);
    EXPECT_EQ(wait(stream_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
    guf_stream given_up = nullptr;
    ASSERT_EQ(guf_stream_create(device_, 0, &given_up, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(guf_stream_begin_capture(given_up, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(power(exponents, given_up), GUF_OK) << error_.message;
    guf_stream_release(given_up, nullptr);
    guf_poll(0, nullptr, nullptr);
  }
  EXPECT_EQ(sim().live("pinned"), pinned);
}

// The status words of a plan are allocated when the plan is created.
TEST_P(GraphFailures, TheFirstLaunchAllocatesNothing) {
  NEEDS_SIM();
  const guf_device far = device(1);
  const guf_stream on = stream(far);
  const guf_array x = empty(far, {kSize}, GUF_I64), y = empty(far, {kSize}, GUF_I64),
                  out = empty(far, {kSize}, GUF_I64);
  const guf_operand one = weak_int_of(1);
  for (const guf_array in : {x, y}) {
    EXPECT_EQ(guf_array_fill(in, &one, on, &error_), GUF_OK) << error_.message;
  }
  const guf_plan plan = power_plan(x, y, out);
  const char *const allocates[] = {"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocFromPoolAsync",
                                   "hipMalloc",     "hipHostMalloc",  "hipMallocFromPoolAsync"};
  const int first = backend_ == "cuda" ? 0 : 3;
  const uint64_t addresses[] = {address(x), address(y), address(out)};
  sim().clear_calls();
  EXPECT_EQ(guf_plan_launch(plan, on, 3, addresses, 0, &error_), GUF_OK) << error_.message;
  for (int i = first; i < first + 3; ++i) EXPECT_EQ(sim().calls(allocates[i]), 0U) << allocates[i];
  EXPECT_EQ(wait(on), GUF_OK) << error_.message;
  guf_plan_release(plan, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, GraphFailures, testing::Values("cuda", "roc"), name_of);

// Tests that running launches of a graph keep their resources after arrays, streams and the graph
// are released.

class PendingGraphs : public Devices {
 protected:
  static constexpr int64_t kSize = 1000;
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

// Tests calls that a captured stream rejects without ending the capture or changing the graph, and
// every error of gufunc/graph.h.

class GraphRefusals : public Devices {
 protected:
  // Ends the capture. Expects that the graph contains one addition and no work of rejected calls.
  void expect_only_the_addition() {
    guf_graph graph = nullptr;
    ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
    EXPECT_THAT(values(out_), Each(0.0F));
    ASSERT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;
    synchronize(stream_);
    EXPECT_THAT(values(out_), Each(2.0F));
    EXPECT_THAT(values(untouched_), Each(7.0F));
    guf_graph_release(graph, nullptr);
  }
  void begin() {
    ASSERT_EQ(guf_stream_begin_capture(stream_, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(call("add", {operand_of(a_), operand_of(a_)}, operand_of(out_), stream_), GUF_OK)
        << error_.message;
  }
  void expect_refused(guf_status status, const char *what) {
    EXPECT_EQ(status, GUF_E_CAPTURE) << what << ": " << error_.message;
    error_ = fresh_error();
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_), other_ = stream(device_);
  const guf_array a_ = filled(device_, 32, 1), out_ = filled(device_, 32, 0),
                  untouched_ = filled(device_, 32, 7);
};

TEST_P(GraphRefusals, WaitsAndQueries) {
  begin();
  expect_refused(guf_stream_query(stream_, &error_), "query");
  expect_refused(guf_stream_synchronize(stream_, UINT64_MAX, &error_), "synchronize");
  expect_refused(guf_stream_begin_capture(stream_, &error_), "begin");
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_query(other_, &error_), GUF_OK) << error_.message;
  guf_poll(0, nullptr, nullptr);
  expect_only_the_addition();
}

TEST_P(GraphRefusals, EventsFromOutside) {
  NEEDS_TWO_DEVICES();
  const guf_event outside = event(device_), far = event(device(1));
  EXPECT_EQ(guf_event_record(outside, other_, &error_), GUF_OK);
  EXPECT_EQ(guf_event_record(far, stream(device(1)), &error_), GUF_OK);
  begin();
  expect_refused(guf_stream_wait_event(stream_, outside, &error_), "another stream's event");
  expect_refused(guf_stream_wait_event(stream_, far, &error_), "another device's event");
  const guf_event inside = event(device_);
  EXPECT_EQ(guf_event_record(inside, stream_, &error_), GUF_OK) << error_.message;
  expect_refused(guf_event_query(inside, &error_), "its own event");
  expect_refused(guf_event_wait(inside, UINT64_MAX, &error_), "its own event");
  expect_refused(guf_stream_wait_event(stream(device(1)), inside, &error_), "another device");
  const guf_stream third = stream(device_);
  ASSERT_EQ(guf_stream_begin_capture(third, &error_), GUF_OK) << error_.message;
  expect_refused(guf_stream_wait_event(third, inside, &error_), "two captures");
  guf_graph graph = nullptr;
  EXPECT_EQ(guf_stream_end_capture(third, &graph, &error_), GUF_OK) << error_.message;
  guf_graph_release(graph, nullptr);
  expect_only_the_addition();
}

TEST_P(GraphRefusals, CallsThatNeedMemory) {
  const guf_operand a = operand_of(a_);
  std::vector<float> host(32, 5);
  gufunc::Operands operands;
  const guf_operand here = *operands.tensor(gufunc::view(GUF_F32, host));
  const guf_array shifted = view(untouched_, 1, 1), rest = view(untouched_, 0, 1);
  const guf_array result = filled(device_, 1, 7);
  begin();
  expect_refused(call("add", {a, a}, {}, stream_), "an output to allocate");
  expect_refused(call("add", {here, here}, here, stream_), "host memory");
  const int64_t zero = 0, last = 31, one = 1;
  guf_array head = nullptr;
  ASSERT_EQ(guf_array_slice(rest, 1, &zero, &last, &one, &head, &error_), GUF_OK);
  keep(head);
  expect_refused(call("negative", {operand_of(head)}, operand_of(shifted), stream_), "overlap");
  expect_refused(reduce("add", a, {}, stream_), "a result to allocate");
  guf_accumulate_args running = {};
  running.struct_size = sizeof running;
  guf_operand made = {};
  running.input = &a;
  running.output = &made;
  running.options.stream = stream_;
  expect_refused(guf_accumulate(find("add"), &running, &error_), "accumulate");
  // `at` and `reduceat` cannot be captured, because they wait for the earlier work of the stream,
  // read the indices on the host, and upload the indices to the device.
  const int64_t place = 3;
  const guf_operand *const index = operands.tensor({GUF_I64, &place, {1}, {}, 0});
  guf_operand to = operand_of(untouched_);
  guf_at_args at = {};
  at.struct_size = sizeof at;
  at.array = &to;
  at.indices = index;
  at.nindices = 1;
  at.options.stream = stream_;
  const guf_operand two = scalar_of(2);
  at.operand = &two;
  expect_refused(guf_at(find("add"), &at, &error_), "at");
  made = operand_of(result);
  running.indices = index;
  expect_refused(guf_reduceat(find("add"), &running, &error_), "reduceat");
  expect_only_the_addition();
}

TEST_P(GraphRefusals, CallsThatMayFailOrQuery) {
  uint32_t found = 0;
  guf_operand in[] = {operand_of(a_), operand_of(a_)}, to = operand_of(untouched_);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = in;
  args.outputs = &to;
  args.options.stream = stream_;
  args.options.fp_flags = &found;
  args.options.fp_report = GUF_FP_DIVIDE;
  begin();
  expect_refused(guf_call(find("divide"), &args, &error_), "floating-point flags");
  expect_only_the_addition();
}

TEST_P(GraphRefusals, CopiesThatNeedMemory) {
  NEEDS_TWO_DEVICES();
  std::vector<float> host(32);
  guf_array made = nullptr;
  const guf_array far = filled(device(1), 32, 1);
  const guf_array pinned_transposed = [&] {
    guf_array pinned = nullptr;
    const int64_t size = 32;
    EXPECT_EQ(guf_array_alloc_host(device_, GUF_HOST_PINNED, GUF_F32, 1, &size, nullptr,
                                   GUF_ORDER_C, &pinned, &error_),
              GUF_OK);
    return view(keep(pinned), -1, -1);
  }();
  const guf_array backwards = view(untouched_, -1, -1);
  begin();
  expect_refused(guf_array_copy(a_, GUF_ORDER_C, stream_, &made, &error_), "copy");
  expect_refused(guf_array_astype(a_, GUF_F64, 0, GUF_ORDER_C, stream_, &made, &error_), "astype");
  expect_refused(guf_array_to_device(a_, device_, stream_, &made, &error_), "to_device");
  expect_refused(guf_array_assign(untouched_, backwards, 0, stream_, &error_), "overlap");
  expect_refused(guf_array_assign(untouched_, far, 0, stream_, &error_), "between devices");
  expect_refused(guf_array_assign(untouched_, pinned_transposed, 0, stream_, &error_),
                 "packing in");
  expect_refused(guf_array_assign(pinned_transposed, untouched_, 0, stream_, &error_),
                 "packing out");
  expect_refused(guf_array_copy_to_host(a_, host.data(), 128, GUF_ORDER_C, stream_, &error_),
                 "ordinary host memory");
  EXPECT_EQ(made, nullptr);
  expect_only_the_addition();
}

TEST_P(GraphRefusals, OtherGraphs) {
  guf_graph graph = nullptr;
  ASSERT_EQ(guf_stream_begin_capture(other_, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_stream_end_capture(other_, &graph, &error_), GUF_OK) << error_.message;
  begin();
  expect_refused(guf_graph_launch(graph, stream_, &error_), "a graph in a graph");
  expect_only_the_addition();
  EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;  // an empty graph
  guf_graph_release(graph, nullptr);
}

TEST_P(GraphRefusals, BadArguments) {
  guf_graph graph = nullptr;
  const auto stream_as_graph = reinterpret_cast<guf_graph>(stream_);
  const auto device_as_stream = reinterpret_cast<guf_stream>(device_);
  EXPECT_EQ(guf_stream_begin_capture(nullptr, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_stream_begin_capture(device_as_stream, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_stream_end_capture(stream_, nullptr, &error_), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("inout_graph is NULL"));
  EXPECT_EQ(guf_stream_end_capture(nullptr, &graph, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_E_CAPTURE);
  EXPECT_THAT(error_.message, HasSubstr("not being captured"));
  guf_graph wrong = stream_as_graph;
  begin();
  EXPECT_EQ(guf_stream_end_capture(stream_, &wrong, &error_), GUF_E_HANDLE);  // capture continues
  EXPECT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_graph_launch(nullptr, stream_, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_graph_launch(stream_as_graph, stream_, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_graph_launch(graph, nullptr, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_graph_launch(graph, device_as_stream, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_graph_retain(stream_as_graph, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_graph_release(stream_as_graph, &error_), GUF_E_HANDLE);
  EXPECT_EQ(guf_graph_retain(nullptr, &error_), GUF_OK);
  EXPECT_EQ(guf_graph_release(nullptr, &error_), GUF_OK);
  EXPECT_EQ(guf_graph_retain(graph, &error_), GUF_OK);
  EXPECT_EQ(guf_graph_release(graph, &error_), GUF_OK);
  EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_graph_release(graph, &error_), GUF_OK);
  EXPECT_EQ(guf_graph_release(graph, &error_), GUF_E_HANDLE);
}

TEST_P(GraphRefusals, OtherDevices) {
  NEEDS_TWO_DEVICES();
  const guf_stream far = stream(device(1));
  guf_graph graph = nullptr;
  begin();
  ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_graph_launch(graph, far, &error_), GUF_E_DEVICE_MISMATCH);
  EXPECT_THAT(error_.message, HasSubstr(":1"));
  ASSERT_EQ(guf_stream_begin_capture(far, &error_), GUF_OK) << error_.message;
  const guf_graph same = graph;
  EXPECT_EQ(guf_stream_end_capture(far, &graph, &error_), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(graph, same);
  // The capture has ended although end_capture returned an error.
  EXPECT_EQ(guf_stream_query(far, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;
  synchronize(stream_);
  EXPECT_THAT(values(out_), Each(2.0F));
  guf_graph_release(graph, nullptr);
}

// If a branch of the capture does not join the captured stream, ending the capture fails. The
// capture has then ended, and its streams can be used again.
TEST_P(GraphRefusals, ABranchWithoutAnEnd) {
  const guf_event fork = event(device_);
  begin();
  EXPECT_EQ(guf_event_record(fork, stream_, &error_), GUF_OK);
  EXPECT_EQ(guf_stream_wait_event(other_, fork, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(call("negative", {operand_of(a_)}, operand_of(out_), other_), GUF_OK) << error_.message;
  guf_graph graph = nullptr;
  EXPECT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_E_CAPTURE);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(guf_stream_query(stream_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_query(other_, &error_), GUF_OK) << error_.message;
  begin();
  expect_only_the_addition();
}

TEST_P(GraphRefusals, TheDriversFailures) {
  NEEDS_SIM();
  const bool cuda = backend_ == "cuda";
  sim().fault(cuda ? "cuStreamBeginCapture_v2:1:900" : "hipStreamBeginCapture:1:900");
  EXPECT_EQ(guf_stream_begin_capture(stream_, &error_), GUF_E_CAPTURE) << error_.message;
  EXPECT_EQ(error_.native_code, 900);
  sim().clear_faults();
  begin();
  guf_graph graph = nullptr;
  ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
  sim().fault(cuda ? "cuGraphLaunch:1:701" : "hipGraphLaunch:1:701");
  EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_E_LAUNCH) << error_.message;
  EXPECT_EQ(error_.native_code, 701);
  sim().clear_faults();
  EXPECT_EQ(guf_graph_launch(graph, stream_, &error_), GUF_OK) << error_.message;
  synchronize(stream_);
  EXPECT_THAT(values(out_), Each(2.0F));
  guf_graph_release(graph, nullptr);
}

TEST_P(GraphRefusals, AForkedChild) {
  guf_graph graph = nullptr;
  begin();
  ASSERT_EQ(guf_stream_end_capture(stream_, &graph, &error_), GUF_OK) << error_.message;
  const pid_t child = fork();
  if (child == 0) {
    guf_graph none = nullptr;
    const bool right = guf_stream_begin_capture(stream_, nullptr) == GUF_E_FORKED &&
                       guf_stream_end_capture(stream_, &none, nullptr) == GUF_E_FORKED &&
                       guf_graph_launch(graph, stream_, nullptr) == GUF_E_FORKED &&
                       guf_graph_release(graph, nullptr) == GUF_OK;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  guf_graph_release(graph, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, GraphRefusals, testing::Values("cuda", "roc"), name_of);

TEST(GraphsOnTheCpu, AreNone) {
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  guf_graph graph = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK) << error.message;
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK) << error.message;
  EXPECT_EQ(guf_stream_begin_capture(stream, &error), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("backend cpu has no graphs"));
  EXPECT_EQ(guf_stream_end_capture(stream, &graph, &error), GUF_E_CAPTURE);
  guf_stream_release(stream, nullptr);
}

// A program captures its own stream with the functions of the vendor. The library, which does not
// know about the capture, queues work on this stream and must not break the capture.

class ForeignCapture : public Devices {
 protected:
  template <class Function>
  Function driver(const char *cuda, const char *hip) {
    const char *const name = backend_ == "cuda" ? cuda : hip;
    const auto found = reinterpret_cast<Function>(dlsym(sim().library, name));
    EXPECT_NE(found, nullptr) << name;
    return found;
  }
  void SetUp() override {
    uint64_t native = 0;
    ASSERT_EQ(guf_stream_get_native(nullptr, stream(device_), &native, &error_), GUF_OK);
    native_ = reinterpret_cast<void *>(native);
    ASSERT_EQ(guf_stream_adopt(device_, native, 0, &adopted_, &error_), GUF_OK) << error_.message;
    streams_.push_back(adopted_);
  }
  // Begins a capture. During the capture, the driver forbids functions that could disturb the
  // capture: in all threads if `mode` is 0, in this thread if `mode` is 1, and in no thread if
  // `mode` is 2.
  void begin(int mode) {
    const Current current(sim(), 0);
    const auto function =
        driver<int (*)(void *, int)>("cuStreamBeginCapture_v2", "hipStreamBeginCapture");
    ASSERT_EQ(function(native_, mode), 0);
  }
  // Ends the capture, and runs the work of the graph once.
  void end_and_run() {
    const Current current(sim(), 0);
    void *graph = nullptr, *made = nullptr;
    ASSERT_EQ((driver<int (*)(void *, void **)>("cuStreamEndCapture", "hipStreamEndCapture")(
                  native_, &graph)),
              0);
    if (backend_ == "cuda") {
      ASSERT_EQ((driver<int (*)(void **, void *, unsigned long long)>("cuGraphInstantiateWithFlags",
                                                                      "")(&made, graph, 0)),
                0);
    } else {
      ASSERT_EQ((driver<int (*)(void **, void *, void *, char *, size_t)>(
                    "", "hipGraphInstantiate")(&made, graph, nullptr, nullptr, 0)),
                0);
    }
    ASSERT_EQ((driver<int (*)(void *, void *)>("cuGraphLaunch", "hipGraphLaunch")(made, native_)),
              0);
    synchronize(adopted_);
    EXPECT_EQ((driver<int (*)(void *)>("cuGraphExecDestroy", "hipGraphExecDestroy")(made)), 0);
    EXPECT_EQ((driver<int (*)(void *)>("cuGraphDestroy", "hipGraphDestroy")(graph)), 0);
  }

  const guf_device device_ = device(0);
  guf_stream adopted_ = nullptr;
  void *native_ = nullptr;
};

TEST_P(ForeignCapture, TakesCallsThatAllocateNothing) {
  const guf_stream busy = stream(device_);
  for (const int mode : {0, 1, 2}) {
    const guf_array a = filled(device_, 100, 1), b = filled(device_, 100, 2),
                    out = filled(device_, 100, 0), copied = filled(device_, 100, 0);
    const guf_operand x = operand_of(a), y = operand_of(b);
    const guf_operand whole = operand_of(empty(device_, {100}, GUF_I64));
    ASSERT_EQ(call("add", {x, y}, operand_of(filled(device_, 100, 0)), busy), GUF_OK);
    begin(mode);
    EXPECT_EQ(call("add", {x, y}, operand_of(out), adopted_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_array_assign(copied, out, 0, adopted_, &error_), GUF_OK) << error_.message;
    // The following calls are rejected, and the capture continues.
    EXPECT_EQ(guf_stream_query(adopted_, &error_), GUF_E_CAPTURE);
    EXPECT_EQ(guf_stream_synchronize(adopted_, UINT64_MAX, &error_), GUF_E_CAPTURE);
    EXPECT_EQ(guf_stream_synchronize(adopted_, 1000, &error_), GUF_E_CAPTURE);
    EXPECT_EQ(call("add", {x, y}, {}, adopted_), GUF_E_CAPTURE);
    // This call is rejected because its loop can fail.
    EXPECT_EQ(call("power", {whole, whole}, whole, adopted_), GUF_E_CAPTURE);
    guf_array made = nullptr;
    EXPECT_EQ(guf_array_copy(a, GUF_ORDER_C, adopted_, &made, &error_), GUF_E_CAPTURE);
    std::vector<float> host(100);
    EXPECT_EQ(guf_array_copy_to_host(a, host.data(), 400, GUF_ORDER_C, adopted_, &error_),
              GUF_E_CAPTURE);
    // Work on other streams does not disturb the capture.
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(call("multiply", {x, y}, {}, busy), GUF_OK) << error_.message;
    EXPECT_EQ(guf_stream_query(busy, &error_) & ~GUF_NOT_READY, GUF_OK) << error_.message;
    EXPECT_THAT(values(out), Each(0.0F));
    end_and_run();
    EXPECT_THAT(values(out), Each(3.0F)) << mode;
    EXPECT_THAT(values(copied), Each(3.0F)) << mode;
  }
}

TEST_P(ForeignCapture, TakesPlans) {
  const guf_array x = filled(device_, 100, 4), out = filled(device_, 100, 0);
  guf_operand in = operand_of(x), to = operand_of(out);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &in;
  args.outputs = &to;
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(find("negative"), &args, &plan, &error_), GUF_OK) << error_.message;
  guf_array_info from = {}, into = {};
  from.struct_size = into.struct_size = sizeof from;
  guf_array_get_info(x, &from, nullptr);
  guf_array_get_info(out, &into, nullptr);
  const uint64_t addresses[] = {from.address, into.address};
  begin(0);
  EXPECT_EQ(guf_plan_launch(plan, adopted_, 2, addresses, 0, &error_), GUF_OK) << error_.message;
  end_and_run();
  EXPECT_THAT(values(out), Each(-4.0F));
  guf_plan_release(plan, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, ForeignCapture, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
