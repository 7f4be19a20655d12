// SPDX-License-Identifier: Apache-2.0
// Tests calls, plans and chunked calls of functions whose kernels overwrite a copy of the first
// operand. The matrices are larger than a host loop copies itself, and one operand is broadcast.
#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"
#include "tests/support/ufuncs.h"

namespace {

using testing::HasSubstr;

constexpr int64_t kRows = 90;  // 63 KiB
constexpr int64_t kItems = 5;

class OverwritingCall : public testing::Test {
 protected:
  // x is 2 times the identity plus a subdiagonal of 1, with the rows in reverse. The solution of
  // x z = y is exact, and the elimination exchanges the rows of x.
  OverwritingCall() : x_(kRows * kRows), y_(kItems * kRows), z_(kItems * kRows) {
    for (int64_t i = 0; i < kRows; ++i) {
      const int64_t row = kRows - 1 - i;
      x_[static_cast<size_t>(row * kRows + i)] = 2;
      if (i > 0) x_[static_cast<size_t>(row * kRows + i - 1)] = 1;
    }
    kept_ = x_;
    for (int64_t item = 0; item < kItems; ++item) {
      for (int64_t i = 0; i < kRows; ++i) {
        expected_.push_back(static_cast<double>(item + i));
        y_[static_cast<size_t>(item * kRows + kRows - 1 - i)] =
            static_cast<double>(2 * (item + i) + (i > 0 ? item + i - 1 : 0));
      }
    }
    inputs_[0] = *operands_.tensor({GUF_F64, x_.data(), {kRows, kRows}, {}, 0, nullptr});
    inputs_[1] = *operands_.tensor({GUF_F64, y_.data(), {kItems, kRows}, {}, 0, nullptr});
    output_ = *operands_.tensor({GUF_F64, z_.data(), {kItems, kRows}, {}, 0, nullptr});
    args_.struct_size = sizeof args_;
    args_.inputs = inputs_;
    args_.ninputs = 2;
    args_.outputs = &output_;
    args_.noutputs = 1;
  }

  void expect_results() {
    EXPECT_EQ(z_, expected_);
    EXPECT_EQ(x_, kept_);
    std::fill(z_.begin(), z_.end(), -1.0);
  }

  const guf_ufunc solve1_ = gufunc::find_ufunc("solve1");
  gufunc::Operands operands_;
  std::vector<double> x_, y_, z_, kept_, expected_;
  guf_operand inputs_[2] = {}, output_ = {};
  guf_call_args args_ = {};
  guf_error error_ = fresh_error();
};

TEST_F(OverwritingCall, CopiesABroadcastOperandForEachItem) {
  for (const uint32_t threads : {1U, 3U}) {
    args_.options.threads = threads;
    ASSERT_EQ(guf_call(solve1_, &args_, &error_), GUF_OK) << error_.message;
    expect_results();
  }
}

// The output is the second input, and a mask excludes an item.
TEST_F(OverwritingCall, RunsInPlaceUnderAMask) {
  const std::vector<uint8_t> mask = {1, 1, 0, 1, 1};
  const guf_operand where = *operands_.tensor({GUF_BOOL, mask.data(), {kItems}, {}, 0, nullptr});
  args_.where = &where;
  args_.outputs = &inputs_[1];
  for (size_t i = 0; i < kRows; ++i) expected_[2 * kRows + i] = y_[2 * kRows + i];
  ASSERT_EQ(guf_call(solve1_, &args_, &error_), GUF_OK) << error_.message;
  z_ = y_;
  expect_results();
}

TEST_F(OverwritingCall, PlanCopiesToItsWorkspace) {
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(solve1_, &args_, &plan, &error_), GUF_OK) << error_.message;
  uint64_t size = 0, alignment = 0;
  ASSERT_EQ(guf_plan_workspace(plan, &size, &alignment, &error_), GUF_OK);
  EXPECT_EQ(size, (uint64_t{kItems * kRows * kRows * 8} + 63) / 64 * 64);
  void *const workspace = std::aligned_alloc(alignment, size);
  const uint64_t addresses[] = {reinterpret_cast<uint64_t>(x_.data()),
                                reinterpret_cast<uint64_t>(y_.data()),
                                reinterpret_cast<uint64_t>(z_.data())};
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_EQ(guf_plan_launch(plan, nullptr, 3, addresses, reinterpret_cast<uint64_t>(workspace),
                              &error_),
              GUF_OK)
        << error_.message;
    expect_results();
  }
  std::vector<char> text(8192);
  uint64_t length = text.size();
  ASSERT_EQ(guf_plan_explain(plan, text.data(), &length, &error_), GUF_OK);
  EXPECT_THAT(text.data(),
              HasSubstr("argument 0: copied to the workspace, because the kernel overwrites it"));
  std::free(workspace);
  EXPECT_EQ(guf_plan_release(plan, &error_), GUF_OK);
}

TEST_F(OverwritingCall, CopiesEachChunk) {
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{2 * kRows * 8}}) {
    options.chunk_bytes = bytes;
    int64_t done = 0;
    ASSERT_EQ(guf_call_chunked(solve1_, &args_, &options, &done, &error_), GUF_OK)
        << error_.message;
    EXPECT_EQ(done, kItems);
    expect_results();
  }
}

// The broadcast operand itself is not cut, but its copy has a matrix for each item.
TEST_F(OverwritingCall, TheCopyLimitsTheChunks) {
  std::vector<int64_t> done;
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = 2 * kRows * kRows * 8;
  options.user = &done;
  options.progress = [](void *user, int64_t items, int64_t) {
    static_cast<std::vector<int64_t> *>(user)->push_back(items);
    return 0;
  };
  ASSERT_EQ(guf_call_chunked(solve1_, &args_, &options, nullptr, &error_), GUF_OK)
      << error_.message;
  EXPECT_THAT(done, testing::ElementsAre(2, 4, 5));
  expect_results();
}

}  // namespace
