// SPDX-License-Identifier: Apache-2.0
// Tests calls that a captured stream rejects without ending the capture or changing the graph, and
// every error of gufunc/graph.h.
#include <sys/wait.h>
#include <unistd.h>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

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
  const int64_t size = 32;
  const guf_tensor tensor = {sizeof(guf_tensor),
                             GUF_F32,
                             1,
                             0,
                             reinterpret_cast<uint64_t>(host.data()),
                             &size,
                             nullptr,
                             nullptr};
  guf_operand here = {};
  here.kind = GUF_OPERAND_TENSOR;
  here.tensor = &tensor;
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
  const guf_tensor places = {sizeof(guf_tensor),
                             GUF_I64,
                             1,
                             0,
                             reinterpret_cast<uint64_t>(&place),
                             &one,
                             nullptr,
                             nullptr};
  guf_operand index = {};
  index.kind = GUF_OPERAND_TENSOR;
  index.tensor = &places;
  guf_operand to = operand_of(untouched_);
  guf_at_args at = {};
  at.struct_size = sizeof at;
  at.array = &to;
  at.indices = &index;
  at.nindices = 1;
  at.options.stream = stream_;
  const guf_operand two = scalar_of(2);
  at.operand = &two;
  expect_refused(guf_at(find("add"), &at, &error_), "at");
  made = operand_of(result);
  running.indices = &index;
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

}  // namespace
}  // namespace device_test
