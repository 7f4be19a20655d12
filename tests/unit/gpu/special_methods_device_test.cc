// SPDX-License-Identifier: Apache-2.0
// Tests special cases of methods on device entries: loops with the dtypes X, Y -> X, datetime
// types, calls that need several launches, and calls that devices reject, with their error
// messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "backends/gpu/geometry/method_lanes.h"
#include "backends/gpu/geometry/method_queue.h"
#include "tests/unit/cpu/cpu_fixture.h"
#include "tests/unit/gpu/fold_loops.h"

namespace gufunc::gpu {
namespace {

constexpr guf_dtype kSeconds = (GUF_TIMEDELTA64 & 0xFFU) | GUF_UNIT_SECOND << 8 | 1U << 16;
constexpr guf_dtype kMilliseconds =
    (GUF_TIMEDELTA64 & 0xFFU) | GUF_UNIT_MILLISECOND << 8 | 1U << 16;

class DeviceForms : public testing::Test {
 protected:
  static void SetUpTestSuite() { cpu::cpu(); }
};

struct MixedShape {
  int64_t kept, inner, outer;
};

// Computes a / 2 + b over an int16 array of shape [kept][outer][inner], as a left fold with the
// inner dimension first.
struct MixedCall {
  MixedCall(const MixedShape &shape, guf_dtype output_dtype, bool masked, bool initial);
  std::vector<float> right() const;

  MixedShape shape;
  bool masked, initial;
  std::vector<int16_t> data;
  std::vector<unsigned char> mask;
  std::vector<double> results;  // large enough for either output dtype
  guf_method_block block = {};
};

MixedCall::MixedCall(const MixedShape &expected, guf_dtype output_dtype, bool has_mask,
                     bool has_initial)
    : shape(expected), masked(has_mask), initial(has_initial) {
  std::mt19937 random(5);
  const auto count = static_cast<size_t>(shape.kept * shape.inner * shape.outer);
  for (size_t i = 0; i < count; ++i) {
    data.push_back(static_cast<int16_t>(random() % 100));
    mask.push_back(random() % 3 != 0);
  }
  results.resize(static_cast<size_t>(shape.kept));
  block.method = GUF_METHOD_REDUCE;
  block.flags = GUF_METHOD_MIXED | (masked ? uint32_t{GUF_METHOD_MASKED} : 0) |
                (initial ? uint32_t{GUF_METHOD_INITIAL} : 0);
  block.nkept = 1;
  block.items = static_cast<uint64_t>(shape.kept);
  block.kept_size[0] = shape.kept;
  block.kept_mask_step[0] = shape.inner * shape.outer;
  block.kept_input_step[0] = 2 * block.kept_mask_step[0];
  block.kept_output_step[0] = output_dtype == GUF_F64 ? 8 : 4;
  block.nfold = 2;
  block.fold_size[0] = shape.inner;
  block.fold_size[1] = shape.outer;
  block.fold_mask_step[0] = 1;
  block.fold_mask_step[1] = shape.inner;
  block.fold_input_step[0] = 2;
  block.fold_input_step[1] = 2 * shape.inner;
  block.input = reinterpret_cast<uint64_t>(data.data());
  block.output = reinterpret_cast<uint64_t>(results.data());
  block.mask = reinterpret_cast<uint64_t>(mask.data());
  block.input_dtype = GUF_I16;
  block.element_dtype = GUF_I32;
  block.loop_dtype = GUF_F32;
  block.output_dtype = output_dtype;
  const float first = 3.25f;
  std::memcpy(block.initial, &first, sizeof first);
}

std::vector<float> MixedCall::right() const {
  std::vector<float> right;
  const size_t each = static_cast<size_t>(shape.inner * shape.outer);
  for (size_t k = 0; k < results.size(); ++k) {
    float all = initial ? 3.25f : static_cast<float>(data[k * each]);
    for (size_t i = initial ? 0 : 1; i < each; ++i) {
      if (masked && mask[k * each + i] == 0) continue;
      all = all * 0.5f + static_cast<float>(data[k * each + i]);
    }
    right.push_back(all);
  }
  return right;
}

TEST_F(DeviceForms, MixedLoopsFoldFromTheLeftOverAllDimensions) {
  for (const MixedShape shape : {MixedShape{1, 1, 1}, {3, 40, 7}, {300, 5, 1}, {2, 1, 900}}) {
    for (const bool initial : {false, true}) {
      for (const bool masked : {false, initial}) {
        for (const guf_dtype output : {GUF_F32, GUF_F64}) {
          MixedCall call(shape, output, masked, initial);
          guf_backend_method method = {};
          method.block = &call.block;
          guf_error error = fresh_error();
          HostSink commands(fold_loop("scale", GUF_F32));
          ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
          const std::vector<float> right = call.right();
          for (size_t k = 0; k < right.size(); ++k) {
            const float narrow = reinterpret_cast<const float *>(call.results.data())[k];
            EXPECT_EQ(output == GUF_F64 ? call.results[k] : narrow, right[k])
                << shape.kept << ' ' << shape.inner << ' ' << shape.outer << ", item " << k;
          }
        }
      }
    }
  }
}

// Datetime values with a different unit are converted before and after the method.
TEST_F(DeviceForms, DatetimesOfOtherUnitsAreConverted) {
  std::vector<int64_t> data(1000), sums(3), running(3000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int64_t>(i);
  guf_method_block block = {};
  block.method = GUF_METHOD_REDUCE;
  block.flags = GUF_METHOD_TREE;
  block.nkept = 1;
  block.items = 3;
  block.kept_size[0] = 3;
  block.kept_input_step[0] = 8;
  block.kept_output_step[0] = 8;
  block.nfold = 1;
  block.fold_size[0] = 900;
  block.fold_input_step[0] = 8;
  block.input = reinterpret_cast<uint64_t>(data.data());
  block.output = reinterpret_cast<uint64_t>(sums.data());
  block.input_dtype = kSeconds;
  block.loop_dtype = kMilliseconds;
  block.output_dtype = GUF_I64;
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  HostSink commands(fold_loop("add", GUF_TIMEDELTA64));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  for (int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(sums[static_cast<size_t>(k)], 1000 * (899 * 900 / 2 + 900 * k));
  }
  block.method = GUF_METHOD_ACCUMULATE;
  block.kept_output_step[0] = 8 * 900;
  block.fold_output_step = 8;
  block.output_dtype = kSeconds;
  block.output = reinterpret_cast<uint64_t>(running.data());
  HostSink scan(fold_loop("add", GUF_TIMEDELTA64));
  ASSERT_EQ(queue_method(method, scan, &error), GUF_OK) << error.message;
  for (int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(running[static_cast<size_t>(k * 900 + 899)], 899 * 900 / 2 + 900 * k);
  }
}

// Each operation converts its result to the unit of the array. Adding 900 ms twice to a number of
// seconds therefore changes nothing, because each sum is truncated.
TEST_F(DeviceForms, AtConvertsDatetimesAtEveryStep) {
  std::vector<int64_t> array = {5, 7};
  const std::vector<int64_t> data = {900, 1700, -100, INT64_MIN, 2500};
  const int64_t places[] = {0, 8, 0, 8, 0}, operands[] = {0, 8, 16, 24, 32};
  guf_method_block block = {};
  block.method = GUF_METHOD_AT;
  block.items = 1;
  block.indices = places;
  block.operand_indices = operands;
  block.nindices = 5;
  block.input = reinterpret_cast<uint64_t>(data.data());
  block.output = reinterpret_cast<uint64_t>(array.data());
  block.input_dtype = block.loop_dtype = kMilliseconds;
  block.output_dtype = kSeconds;
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  HostSink commands(fold_loop("add", GUF_TIMEDELTA64));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  // 5.9 is truncated to 5, 4.9 to 4, and 6.5 to 6. A not-a-time value remains.
  EXPECT_EQ(array, (std::vector<int64_t>{6, INT64_MIN}));
}

// A CommandSink that records the sizes of commands and does not run them.
class CountingSink final : public CommandSink {
 public:
  const DeviceTraits &traits() const override { return traits_; }
  bool has(Entry) const override { return true; }
  uint32_t local_bytes(Entry) const override { return 0; }
  guf_status run(const Command &command, guf_error *) override {
    EXPECT_LT(uint64_t{command.blocks} * command.threads, uint64_t{1} << 31);
    EXPECT_GT(command.blocks, 0U);
    threads[command.entry] += uint64_t{command.blocks} * command.threads;
    ++launches[command.entry];
    return GUF_OK;
  }
  guf_status scratch(uint64_t, uint64_t *out_address, guf_error *) override {
    *out_address = 1 << 20;
    return GUF_OK;
  }
  guf_status upload(const void *, uint64_t, uint64_t *out_address, guf_error *) override {
    *out_address = 1 << 20;
    return GUF_OK;
  }
  guf_status status_word(uint64_t *out_address, guf_error *) override {
    *out_address = 1 << 20;
    return GUF_OK;
  }

  std::map<Entry, uint64_t> threads, launches;

 private:
  DeviceTraits traits_ = {132, 2, 48 * 1024, 0};
};

struct HugeRow {
  int32_t method;
  bool tree;
  int64_t kept[2], fold;
  Entry entry;
  uint64_t items;  // smallest number of threads that the entry needs
};

TEST_F(DeviceForms, LaunchesStayBelowTwoToThe31) {
  constexpr int64_t kOne = 1;
  const HugeRow rows[] = {
      {GUF_METHOD_REDUCE, true, {1, 1}, kOne << 44, Entry::kLeaves, uint64_t{1} << 40},
      {GUF_METHOD_REDUCE, true, {kOne << 33, 1}, 5, Entry::kLeaves, uint64_t{1} << 33},
      {GUF_METHOD_REDUCE, true, {kOne << 20, kOne << 14}, 300, Entry::kLeaves, uint64_t{1} << 37},
      {GUF_METHOD_REDUCE, false, {kOne << 33, 3}, 300, Entry::kFold, uint64_t{3} << 33},
      {GUF_METHOD_ACCUMULATE, true, {1, 1}, kOne << 42, Entry::kScan, uint64_t{1} << 34},
      {GUF_METHOD_ACCUMULATE, false, {kOne << 34, 1}, 300, Entry::kScan, uint64_t{1} << 34},
      {GUF_METHOD_REDUCEAT, true, {kOne << 33, 1}, 300, Entry::kLeaves, uint64_t{1} << 36},
      {GUF_METHOD_AT, false, {kOne << 33, 1}, 300, Entry::kAt, uint64_t{1} << 34},
  };
  const int64_t indices[] = {0, 8};
  for (const HugeRow &row : rows) {
    guf_method_block block = {};
    block.method = row.method;
    block.flags = row.tree ? GUF_METHOD_TREE : 0;
    block.nkept = 2;
    block.items = static_cast<uint64_t>(row.kept[0] * row.kept[1]);
    int64_t distance = 8;
    for (int d = 0; d < 2; ++d) {
      block.kept_size[d] = row.kept[d];
      block.kept_input_step[d] = block.kept_output_step[d] = distance;
      distance *= row.kept[d] * 3;  // the dimensions are not contiguous, so they are not coalesced
    }
    block.nfold = 1;
    block.fold_size[0] = row.fold;
    block.fold_input_step[0] = block.fold_output_step = distance;
    block.input = block.output = 1 << 20;
    block.input_dtype = block.output_dtype = block.loop_dtype = GUF_F64;
    block.indices = block.operand_indices = indices;
    block.nindices = 2;
    guf_backend_method method = {};
    method.block = &block;
    guf_error error = fresh_error();
    CountingSink commands;
    ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
    EXPECT_GE(commands.threads[row.entry], row.items) << row.method;
    EXPECT_GT(commands.launches[row.entry], 1U) << row.method;
  }
}

// Lanes are the items along the dimensions that a method does not reduce. Each range of lanes
// begins where the previous range ends, and the addresses of a range are the addresses of its first
// lane.
TEST_F(DeviceForms, RangesOfLanesBeginAtTheirFirstLane) {
  LaneDims lanes;
  lanes.add({5, 8, 1, 16, -1});
  lanes.add({7, 1000, 100, 2000, -1});
  lanes.add({3, 100000, 10000, 300000, -1});
  for (const uint64_t most : {1U, 2U, 5U, 9U, 11U, 35U, 70U, 105U, 1000U}) {
    LanePartition partition(lanes, most);
    LaneRange range;
    uint64_t next = 0;
    while (partition.next(&range)) {
      ASSERT_EQ(range.first, next);
      ASSERT_LE(range.dims.lanes, most);
      ASSERT_EQ(range.dims.pitch, 105U);
      for (uint32_t k = 0; k < range.dims.lanes; ++k, ++next) {
        int64_t input = range.input, mask = range.mask, output = range.output;
        uint32_t rest = k;
        for (uint32_t d = 0; d < range.dims.ndim; ++d) {
          const uint32_t q = dev::quotient(range.dims.size[d], rest);
          const int64_t index = rest - q * range.dims.size[d].d;
          input += index * range.dims.input[d];
          mask += index * range.dims.mask[d];
          output += index * range.dims.output[d];
          rest = q;
        }
        const auto i = static_cast<int64_t>(next % 5), j = static_cast<int64_t>(next / 5 % 7);
        const auto m = static_cast<int64_t>(next / 35);
        ASSERT_EQ(input, 8 * i + 1000 * j + 100000 * m) << next << " of at most " << most;
        ASSERT_EQ(mask, i + 100 * j + 10000 * m);
        ASSERT_EQ(output, 16 * i + 2000 * j + 300000 * m);
      }
    }
    EXPECT_EQ(next, 105U) << most;
  }
}

guf_method_block sum_of(std::vector<float> *data, float *sum) {
  guf_method_block block = {};
  block.method = GUF_METHOD_REDUCE;
  block.flags = GUF_METHOD_TREE;
  block.items = 1;
  block.nfold = 1;
  block.fold_size[0] = static_cast<int64_t>(data->size());
  block.fold_input_step[0] = 4;
  block.input = reinterpret_cast<uint64_t>(data->data());
  block.output = reinterpret_cast<uint64_t>(sum);
  block.input_dtype = block.output_dtype = block.loop_dtype = GUF_F32;
  return block;
}

TEST_F(DeviceForms, RefusesUnsupportedForms) {
  std::vector<float> data(10, 1.0f);
  float sum = 0;
  guf_method_block block = sum_of(&data, &sum);
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  HostSink commands(fold_loop("scale", GUF_F32));  // this loop has no entry except `fold`
  EXPECT_EQ(queue_method(method, commands, &error), GUF_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(error.message, "_leaves"), nullptr) << error.message;
  HostSink whole(fold_loop("add", GUF_F32));
  block.loop_dtype = 0x82U | 24U << 8 | 1U << 20;
  EXPECT_EQ(queue_method(method, whole, &error), GUF_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(error.message, "structured"), nullptr) << error.message;
  block.loop_dtype = GUF_F32;
  block.flags |= 1U << 20;
  EXPECT_EQ(queue_method(method, whole, &error), GUF_E_UNSUPPORTED);
  block.flags = GUF_METHOD_TREE;
  block.method = 9;
  EXPECT_EQ(queue_method(method, whole, &error), GUF_E_UNSUPPORTED);
  block = sum_of(&data, &sum);
  block.method = GUF_METHOD_AT;
  block.flags = 0;
  block.output_dtype = GUF_TIMEDELTA64;
  const int64_t first = 0;
  block.indices = &first;
  block.nindices = 1;
  EXPECT_EQ(queue_method(method, whole, &error), GUF_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(error.message, "to the datetime type"), nullptr) << error.message;
  EXPECT_EQ(whole.launches(), 0U);
}

TEST_F(DeviceForms, DescribesItsSteps) {
  std::vector<float> data(100000, 1.0f);
  float sum = 0;
  guf_method_block block = sum_of(&data, &sum);
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  char text[1024];
  const HostSink device(fold_loop("add", GUF_F32));
  ASSERT_EQ(describe_method_commands(method, device, text, sizeof text, &error), GUF_OK);
  EXPECT_STREQ(
      text,
      "walk: a tree per dimension, results in parallel\n"
      "scratch: 100 bytes\n"
      "step: base blocks of the reduction, combined within thread blocks; 25 blocks of 256 "
      "threads, 1280 "
      "bytes of shared memory each\n"
      "step: combines the results of thread blocks; 1 blocks of 256 threads, 1280 bytes of "
      "shared memory each\n");
  EXPECT_EQ(sum, 0.0f);
  block.method = GUF_METHOD_REDUCEAT;
  block.nindices = 7;
  ASSERT_EQ(describe_method_commands(method, device, text, sizeof text, &error), GUF_OK);
  EXPECT_NE(std::strstr(text, "not known"), nullptr) << text;
  ASSERT_EQ(describe_method_commands(method, device, text, 6, &error), GUF_OK);
  EXPECT_STREQ(text, "walk:");
}

}  // namespace
}  // namespace gufunc::gpu
