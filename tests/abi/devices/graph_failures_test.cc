// SPDX-License-Identifier: Apache-2.0
// Tests captured loops that can fail. If a loop fails during a launch of a graph, the stream on
// which the graph was launched reports the failure. A loop stores its failure in a status word,
// which the library reads after the loop.
#include "device_fixture.h"

namespace device_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kSize = 300;
constexpr char kNegative[] = "Integers to negative integer powers are not allowed.";

class GraphFailures : public Devices {
 protected:
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
    guf_operand operand = {};
    operand.kind = GUF_OPERAND_WEAK_INT;
    operand.value[0] = static_cast<uint64_t>(value);
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
  guf_operand one = {};
  one.kind = GUF_OPERAND_WEAK_INT;
  one.value[0] = 1;
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

}  // namespace
}  // namespace device_test
