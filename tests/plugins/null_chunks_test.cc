// SPDX-License-Identifier: Apache-2.0
// Tests chunked calls on the cpu and on a device with its own memory. The results of chunked calls
// must equal the results of unchunked calls, and chunked calls can be cancelled, fail and resume.
#include <gmock/gmock.h>

#include <numeric>

#include "tests/plugins/null_fixture.h"

namespace {

using gufunc::scalar_of;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class NullChunks : public NullDevices, public ::testing::WithParamInterface<bool> {
 protected:
  // Computes a + b in chunks in which the largest operand has at most `bytes` bytes.
  guf_status add(guf_operand a, guf_operand b, guf_operand out, uint64_t bytes) {
    inputs_[0] = a;
    inputs_[1] = b;
    output_ = out;
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = inputs_;
    args.outputs = &output_;
    args.options.device = GetParam() ? far_ : nullptr;
    options_.chunk_bytes = bytes;
    error_ = fresh_error();
    return guf_call_chunked(add_, &args, &options_, &done_, &error_);
  }
  static int32_t count(void *user, int64_t done, int64_t items) {
    auto *const self = static_cast<NullChunks *>(user);
    self->report_.push_back(done);
    self->items_ = items;
    return done >= self->stop_at_ ? 1 : 0;
  }

  guf_operand inputs_[2] = {}, output_ = {};
  guf_chunk_options options_ = {sizeof(guf_chunk_options), 0, 0, 0, 0, 0, count, this};
  int64_t done_ = -1, items_ = -1, stop_at_ = INT64_MAX;
  std::vector<int64_t> report_;
};

TEST_P(NullChunks, ReturnTheSameResults) {
  std::vector<float> a(1000), b(1000), out(1000, -1), expected(1000);
  std::iota(a.begin(), a.end(), 0.0F);
  for (size_t i = 0; i < 1000; ++i) {
    b[i] = static_cast<float>(3 * i);
    expected[i] = a[i] + b[i];
  }
  for (const uint64_t bytes : {4, 40, 1000, 4000, 0}) {
    std::fill(out.begin(), out.end(), -1.0F);
    report_.clear();
    ASSERT_EQ(add(view(a, {1000}), view(b, {1000}), view(out, {1000}), bytes), GUF_OK)
        << error_.message;
    EXPECT_THAT(out, ElementsAreArray(expected));
    EXPECT_EQ(done_, 1000);
    EXPECT_EQ(items_, 1000);
    EXPECT_EQ(report_.size(), bytes == 0 ? 1U : (4000 + bytes - 1) / bytes) << bytes;
    EXPECT_EQ(report_.back(), 1000);
  }
}

TEST_P(NullChunks, StridesBroadcastsAndSharedOperands) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {10, 20}, out(8, 0);
  // The view of `a` is reversed and transposed, so its rows are (6, 3), (5, 2), (4, 1).
  ASSERT_EQ(add(view(a, {3, 2}, {-4, -12}, 5), view(b, {2}), view(out, {3, 2}, {8, 4}, 1), 8),
            GUF_OK)
      << error_.message;
  EXPECT_THAT(out, ElementsAre(0, 16, 23, 15, 22, 14, 21, 0));
  EXPECT_THAT(report_, ElementsAre(1, 2, 3));
  ASSERT_EQ(add(view(a, {3}), scalar_of(1), view(out, {3}), 4), GUF_OK) << error_.message;
  EXPECT_THAT(std::vector<float>(out.begin(), out.begin() + 3), ElementsAre(2, 3, 4));
  // One operand has a broadcast axis with stride 0.
  ASSERT_EQ(add(view(a, {4}, {0}, 2), view(a, {4}), view(out, {4}), 4), GUF_OK) << error_.message;
  EXPECT_THAT(std::vector<float>(out.begin(), out.begin() + 4), ElementsAre(4, 5, 6, 7));
}

TEST_P(NullChunks, InPlaceAndWithoutDimensions) {
  std::vector<float> a = {1, 2, 3, 4, 5}, one = {7}, out = {0};
  ASSERT_EQ(add(view(a, {5}), view(a, {5}), view(a, {5}), 8), GUF_OK) << error_.message;
  EXPECT_THAT(a, ElementsAre(2, 4, 6, 8, 10));
  ASSERT_EQ(add(view(one, {}), view(one, {}), view(out, {}), 8), GUF_OK) << error_.message;
  EXPECT_THAT(out, ElementsAre(14));
  EXPECT_EQ(items_, 1);
  ASSERT_EQ(add(view(one, {1}), view(one, {1}), view(out, {1}), 8), GUF_OK) << error_.message;
  report_.clear();
  ASSERT_EQ(add(view(a, {0}), view(a, {0}), view(out, {0}), 8), GUF_OK) << error_.message;
  EXPECT_EQ(done_, 0);
  EXPECT_TRUE(report_.empty());
}

TEST_P(NullChunks, StopAndGoOn) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, out(6, 0);
  stop_at_ = 4;
  EXPECT_EQ(add(view(a, {6}), view(a, {6}), view(out, {6}), 8), GUF_E_CANCELLED);
  EXPECT_THAT(error_.message, HasSubstr("after outer item 4 of 6"));
  EXPECT_EQ(done_, 4);
  EXPECT_THAT(out, ElementsAre(2, 4, 6, 8, 0, 0));
  out[0] = 99;  // completed items are not written again
  stop_at_ = INT64_MAX;
  options_.first_item = done_;
  ASSERT_EQ(add(view(a, {6}), view(a, {6}), view(out, {6}), 8), GUF_OK) << error_.message;
  EXPECT_THAT(out, ElementsAre(99, 4, 6, 8, 10, 12));
  options_.first_item = 7;
  EXPECT_EQ(add(view(a, {6}), view(a, {6}), view(out, {6}), 8), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("first_item: expected 0 to 6, got 7"));
}

TEST_P(NullChunks, RefuseCallsThatCannotBeDivided) {
  std::vector<float> a = {1, 2, 3, 4}, out(4, 0);
  EXPECT_EQ(add(view(a, {3}), view(a, {3}), view(a, {3}, {}, 1), 4), GUF_E_OVERLAP);
  EXPECT_EQ(add(view(a, {4}), view(a, {4}), guf_operand{}, 4), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("argument 2 is missing"));
  const guf_operand there = gufunc::operand_of(floats(far_, {1, 2, 3, 4}));
  EXPECT_NE(add(there, there, there, 4), GUF_OK);
  options_.depth = 17;
  EXPECT_EQ(add(view(a, {4}), view(a, {4}), view(out, {4}), 4), GUF_E_ARG);
  options_.depth = -1;
  EXPECT_EQ(add(view(a, {4}), view(a, {4}), view(out, {4}), 4), GUF_E_ARG);
  options_.depth = 1;
  options_.flags = 1;
  EXPECT_EQ(add(view(a, {4}), view(a, {4}), view(out, {4}), 4), GUF_E_ARG);
  options_.flags = 0;
  ASSERT_EQ(add(view(a, {4}), view(a, {4}), view(out, {4}), 4), GUF_OK) << error_.message;
  EXPECT_THAT(out, ElementsAre(2, 4, 6, 8));
}

TEST_P(NullChunks, AFailureReportsTheCompletedItems) {
  if (!GetParam()) return;  // only the null device can inject failures
  std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8}, out(8, 0);
  ASSERT_EQ(add(view(a, {8}), view(a, {8}), view(out, {8}), 4), GUF_OK) << error_.message;
  guf_poll(0, nullptr, nullptr);
  const uint64_t memory = control().live("memory"), events = control().live("event");
  for (const char *slot : {"launch", "copy", "memory_alloc", "event_open", "event_record",
                           "stream_wait_event", "event_synchronize"}) {
    for (int n = 1; n < 30; ++n) {
      std::fill(out.begin(), out.end(), 0.0F);
      control().script((std::string("async=") + (n % 2 != 0 ? "1" : "0") + ";" + slot + "@" +
                        std::to_string(n) + "=1202")
                           .c_str());
      const guf_status status = add(view(a, {8}), view(a, {8}), view(out, {8}), 4);
      control().reset();
      if (status != GUF_OK) {
        EXPECT_EQ(status, 1202) << slot << n << error_.message;
      }
      for (size_t i = 0; i < 8; ++i) {
        const bool written = static_cast<int64_t>(i) < done_;
        EXPECT_EQ(out[i], written ? 2 * a[i] : 0) << slot << n << " " << i;
      }
      EXPECT_EQ(status == GUF_OK, done_ == 8) << slot << n;
    }
  }
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(control().live("memory"), memory);
  EXPECT_EQ(control().live("event"), events);
}

INSTANTIATE_TEST_SUITE_P(Where, NullChunks, ::testing::Bool(),
                         [](const auto &where) { return where.param ? "OnADevice" : "OnTheCpu"; });

}  // namespace
