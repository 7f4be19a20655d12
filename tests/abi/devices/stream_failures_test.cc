// SPDX-License-Identifier: Apache-2.0
// Tests the rules of gufunc/stream.h for failures, on every backend. A stream keeps its first
// failure, and the next wait for the stream reports it once. Events that are recorded after the
// failure also report it. Later work still runs.
#include <chrono>
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

class StreamFailures : public Devices {
 protected:
  guf_array integers(int64_t value) {
    const guf_array made = empty(device_, {100}, GUF_I64);
    const guf_operand filler = weak_int_of(value);
    EXPECT_EQ(guf_array_fill(made, &filler, nullptr, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
    return made;
  }

  // Queues work that fails when it runs. The call itself succeeds.
  void queue(const char *name, guf_array a, guf_array b) {
    const guf_operand in[] = {operand_of(a), operand_of(b)};
    guf_operand out = operand_of(results_);
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = in;
    args.outputs = &out;
    args.options.stream = stream_;
    args.options.fp_fail = GUF_FP_INTEGER_DIVIDE;
    EXPECT_EQ(guf_call(find(name), &args, &error_), GUF_OK) << error_.message;
  }
  void divide_by_zero() { queue("floor_divide", ones_, zeros_); }
  void raise_to_negative() { queue("power", ones_, minus_); }

  // Queries the stream until its work is complete. The query that detects the completion, and all
  // further queries, must return GUF_OK, because only a wait reports failures.
  void query_until_done() {
    guf_status status = GUF_NOT_READY;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (status == GUF_NOT_READY && std::chrono::steady_clock::now() < end) {
      status = guf_stream_query(stream_, &error_);
      std::this_thread::yield();
    }
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(status, GUF_OK) << error_.message;
      status = guf_stream_query(stream_, &error_);
    }
  }

  guf_event mark() {
    const guf_event made = event(device_);
    EXPECT_EQ(guf_event_record(made, stream_, &error_), GUF_OK) << error_.message;
    return made;
  }
  void expect_fp_flag(guf_event event, guf_status expected) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(guf_event_wait(event, UINT64_MAX, &error_), expected) << error_.message;
      EXPECT_EQ(guf_event_query(event, &error_), expected) << error_.message;
    }
  }
  void expect_reported(guf_status expected, const char *text) {
    EXPECT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, &error_), expected);
    EXPECT_THAT(error_.message, HasSubstr(text));
    for (int i = 0; i < 2; ++i) synchronize(stream_);
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
  const guf_array ones_ = integers(2), zeros_ = integers(0), minus_ = integers(-1);
  const guf_array results_ = integers(7);
};

constexpr char kDivided[] = "divide by zero encountered in floor_divide";
constexpr char kRaised[] = "Integers to negative integer powers are not allowed.";

TEST_P(StreamFailures, TheFirstIsKeptAndReportedOnce) {
  divide_by_zero();
  raise_to_negative();
  query_until_done();
  expect_reported(GUF_E_FLOATING_POINT, kDivided);
  raise_to_negative();
  divide_by_zero();
  divide_by_zero();
  query_until_done();
  expect_reported(GUF_E_VALUE, kRaised);
}

TEST_P(StreamFailures, EventsRecordedLaterReportIt) {
  const guf_event before = mark();
  divide_by_zero();
  const guf_event behind = mark();
  raise_to_negative();
  const guf_event last = mark();
  query_until_done();
  expect_fp_flag(before, GUF_OK);
  expect_fp_flag(behind, GUF_E_FLOATING_POINT);
  expect_fp_flag(last, GUF_E_FLOATING_POINT);
  EXPECT_THAT(error_.message, HasSubstr(kDivided));
  expect_reported(GUF_E_FLOATING_POINT, kDivided);
  expect_fp_flag(mark(), GUF_OK);
  expect_fp_flag(behind, GUF_E_FLOATING_POINT);
  expect_fp_flag(before, GUF_OK);
}

TEST_P(StreamFailures, LaterWorkRuns) {
  const guf_array threes = filled(device_, 100, 3), sums = filled(device_, 100, 0);
  raise_to_negative();
  EXPECT_EQ(call("add", {operand_of(threes), operand_of(threes)}, operand_of(sums), stream_),
            GUF_OK)
      << error_.message;
  query_until_done();
  expect_reported(GUF_E_VALUE, kRaised);
  EXPECT_THAT(values(sums), Each(6.0F));
  EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK)
      << "the stream has reported the failure";
}

TEST_P(StreamFailures, AnEventDoesNotClearIt) {
  divide_by_zero();
  const guf_event behind = mark();
  expect_fp_flag(behind, GUF_E_FLOATING_POINT);
  const guf_stream other = stream(device_);
  EXPECT_EQ(guf_stream_wait_event(other, behind, &error_), GUF_OK) << error_.message;
  synchronize(other);
  expect_reported(GUF_E_FLOATING_POINT, kDivided);
}

// The call computes 1 / 0 and 0 / 0. The invalid flag makes the work fail, and `fp_flags` receives
// only the flag that the call requests.
TEST_P(StreamFailures, OnlyRequestedFpFlagsAreReported) {
  const guf_array a = floats(device_, {1, 0, 1, 0}), b = floats(device_, {0, 0, 1, 0});
  const guf_operand in[] = {operand_of(a), operand_of(b)};
  guf_operand out = operand_of(filled(device_, 4, 0));
  for (const uint32_t report : {GUF_FP_DIVIDE, GUF_FP_OVERFLOW, GUF_FP_INVALID}) {
    uint32_t fp_flags = 0;
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = in;
    args.outputs = &out;
    args.options.stream = stream_;
    args.options.fp_flags = &fp_flags;
    args.options.fp_report = report;
    args.options.fp_fail = GUF_FP_INVALID;
    EXPECT_EQ(guf_call(find("divide"), &args, &error_), GUF_OK) << error_.message;
    expect_reported(GUF_E_FLOATING_POINT, "invalid value encountered in divide");
    EXPECT_EQ(fp_flags, report == GUF_FP_OVERFLOW ? 0U : report);
  }
}

INSTANTIATE_TEST_SUITE_P(On, StreamFailures, testing::Values("cpu", "cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
