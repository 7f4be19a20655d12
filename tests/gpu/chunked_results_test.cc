// SPDX-License-Identifier: Apache-2.0
// Tests that chunked calls have the same results as unchunked calls, byte for byte, for every
// dtype, stride, shape and kind of memory.
#include "tests/gpu/chunked_fixture.h"
#include "tests/support/operands.h"

namespace gufunc::gpu_test {
namespace {

using ::testing::ElementsAre;

Values f8(std::vector<int64_t> shape, uint32_t seed, uint64_t count = 0) {
  return Values::of<double>(GUF_F64, std::move(shape), seed, count);
}
Values f4(std::vector<int64_t> shape, uint32_t seed, uint64_t count = 0) {
  return Values::of<float>(GUF_F32, std::move(shape), seed, count);
}

class ChunkedResults : public ChunkedCalls {};

TEST_P(ChunkedResults, OrdinaryOperands) {
  const int64_t n = 501;
  expect_same({"discriminant", {f8({n}, 1), f8({n}, 2), f8({n}, 3)}, {f8({n}, 4)}});
  expect_same({"add", {f4({7, 11, 3}, 1), f4({7, 11, 3}, 2)}, {f4({7, 11, 3}, 3)}});
  expect_same({"negative", {f8({1}, 1)}, {f8({1}, 2)}});
  expect_same({"negative", {f8({}, 1)}, {f8({}, 2)}});
}

TEST_P(ChunkedResults, EveryChunkIsReported) {
  const Values a = f8({100}, 1);
  Case given = {"add", {a, a}, {f8({100}, 2)}};
  options_.chunk_bytes = 8 * 30;
  ASSERT_EQ(call_chunked(given), GUF_OK) << error_.message;
  EXPECT_THAT(report_, ElementsAre(30, 60, 90, 100));
  EXPECT_EQ(items_, 100);
  options_.chunk_bytes = 8 * 100;
  ASSERT_EQ(call_chunked(given), GUF_OK) << error_.message;
  EXPECT_THAT(report_, ElementsAre(100));
  options_.chunk_bytes = UINT64_MAX;  // larger than any array
  ASSERT_EQ(call_chunked(given), GUF_OK) << error_.message;
  EXPECT_THAT(report_, ElementsAre(100));
  options_.chunk_bytes = 1;  // smaller than any item
  ASSERT_EQ(call_chunked(given), GUF_OK) << error_.message;
  EXPECT_EQ(report_.size(), 100U);
  for (size_t i = 0; i < report_.size(); ++i) EXPECT_EQ(report_[i], static_cast<int64_t>(i) + 1);
}

TEST_P(ChunkedResults, EveryDepth) {
  for (const int32_t depth : {1, 2, 3, 16}) {
    options_.depth = depth;
    expect_same({"add", {f8({100}, 1), f8({100}, 2)}, {f8({100}, 3)}}, {64});
  }
}

TEST_P(ChunkedResults, StridesOfAnySign) {
  // The operands are arrays of every second element, of elements in reverse, transposed arrays, and
  // arrays with gaps between rows.
  expect_same({"add",
               {f8({50}, 1, 100).strided({16}), f8({50}, 2, 50).strided({-8}, 49 * 8)},
               {f8({50}, 3, 150).strided({24}, 8)}});
  expect_same({"add",
               {f8({8, 9}, 1, 72).strided({8, 64}), f8({8, 9}, 2)},
               {f8({8, 9}, 3, 160).strided({160, 16})}});
  expect_same({"add",
               {f4({6, 5, 4}, 1, 120).strided({-80, 4, 20}, 400), f4({6, 5, 4}, 2)},
               {f4({6, 5, 4}, 3, 120).strided({4, 24, 120})}});
}

TEST_P(ChunkedResults, BroadcastOperands) {
  expect_same({"add", {f8({40, 5}, 1), f8({5}, 2)}, {f8({40, 5}, 3)}});
  expect_same({"add", {f8({40, 5}, 1), f8({40, 1}, 2)}, {f8({40, 5}, 3)}});
  expect_same({"add", {f8({40, 1}, 1), f8({1, 5}, 2)}, {f8({40, 5}, 3)}});
  expect_same({"add", {f8({}, 1), f8({40}, 2)}, {f8({40}, 3)}});
  expect_same({"add", {f8({40}, 1, 1).strided({0}), f8({40}, 2)}, {f8({40}, 3)}});
  // The output can have more elements than the inputs.
  expect_same({"add", {f8({1}, 1), f8({1}, 2)}, {f8({40, 3}, 3)}});
}

// Leading extents of 1 have no effect on the split into chunks. An outer item, which is a slice
// along the first larger dimension, is split further if it is larger than a chunk.
TEST_P(ChunkedResults, FewOuterItems) {
  expect_same({"add", {f8({1, 300}, 1), f8({1, 300}, 2)}, {f8({1, 300}, 3)}});
  options_.chunk_bytes = 80;
  Case row = {"negative", {f8({1, 30}, 1)}, {f8({1, 30}, 2)}};
  ASSERT_EQ(call_chunked(row), GUF_OK) << error_.message;
  EXPECT_THAT(report_, ElementsAre(10, 20, 30));
  Case rows = {"negative", {f8({2, 1, 3, 20}, 1)}, {f8({2, 1, 3, 20}, 2)}};
  ASSERT_EQ(call_chunked(rows), GUF_OK) << error_.message;
  EXPECT_THAT(report_, ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2));
  EXPECT_EQ(items_, 2);
  expect_same({"add", {f8({3, 200}, 1), f8({200}, 2)}, {f8({3, 200}, 3)}});
  expect_same({"add", {f8({3, 200}, 1), f8({3, 1}, 2)}, {f8({3, 200}, 3)}});
  expect_same(
      {"add", {f8({2, 3, 40}, 1), f8({3, 1}, 2)}, {f8({2, 3, 40}, 3, 240).strided({8, 16, 48})}});
  expect_same({"add", {f8({2, 3, 40}, 1), f8({2, 1, 1}, 2)}, {f8({2, 3, 40}, 3)}});
}

TEST_P(ChunkedResults, CastsAndByteOrder) {
  const int64_t n = 77;
  const auto i2 = [](int64_t count, uint32_t seed) {
    return Values::of<int16_t>(GUF_I16, {count}, seed);
  };
  // Some operands and results are wider than the dtype of the loop, and others are narrower.
  expect_same({"add", {f8({n}, 1), f4({n}, 2)}, {f8({n}, 3)}});
  expect_same({"add", {i2(n, 1), f4({n}, 2)}, {f8({n}, 3)}});
  expect_same({"add", {f8({n}, 1), f8({n}, 2)}, {f4({n}, 3)}, {}, GUF_F32, GUF_CASTING_UNSAFE});
  expect_same({"add", {f8({n}, 1), i2(n, 2)}, {i2(n, 3)}, {}, 0, GUF_CASTING_UNSAFE});
  expect_same({"discriminant", {i2(n, 1), i2(n, 2), i2(n, 3)}, {f8({n}, 4)}});
  Values swapped = f8({n}, 5), target = f8({n}, 6);
  swapped.flags = target.flags = GUF_TENSOR_SWAPPED;
  for (size_t i = 0; i < swapped.bytes.size(); i += 8)
    std::reverse(swapped.bytes.begin() + static_cast<long>(i),
                 swapped.bytes.begin() + static_cast<long>(i) + 8);
  expect_same({"add", {swapped, f8({n}, 2)}, {target}});
  expect_same({"add", {swapped, f4({n}, 2)}, {f4({n}, 3)}, {}, GUF_F32, GUF_CASTING_UNSAFE});
}

// Operands can be at odd addresses.
TEST_P(ChunkedResults, UnalignedOperands) {
  Values a = f8({40}, 1, 41), out = f8({40}, 2, 41);
  a.first = 3;
  out.first = 5;
  for (Values *values : {&a, &out}) values->strides = {8};
  for (size_t i = 0; i < 40; ++i) {
    const double value = static_cast<double>(i) / 4;
    std::memcpy(a.bytes.data() + 3 + 8 * i, &value, 8);
  }
  expect_same({"add", {a, f8({40}, 3)}, {out}});
}

TEST_P(ChunkedResults, Masks) {
  const auto mask = [](std::vector<int64_t> shape) {
    Values made = Values::of<uint8_t>(GUF_BOOL, std::move(shape), 9);
    for (unsigned char &byte : made.bytes) byte &= 1;
    return made;
  };
  expect_same({"add", {f8({90}, 1), f8({90}, 2)}, {f8({90}, 3)}, {mask({90})}});
  expect_same({"add", {f8({30, 4}, 1), f8({4}, 2)}, {f8({30, 4}, 3)}, {mask({4})}});
  expect_same({"add", {f8({30, 4}, 1), f8({4}, 2)}, {f8({30, 4}, 3)}, {mask({30, 1})}});
  // Output elements whose mask is false must keep their bits, although the loop's dtype cannot
  // represent their values.
  Values out = f8({90}, 3);
  for (size_t i = 0; i < 90; ++i) {
    const double value = 1.0 / (1.0 + static_cast<double>(i));
    std::memcpy(out.bytes.data() + 8 * i, &value, 8);
  }
  expect_same({"add", {f4({90}, 1), f4({90}, 2)}, {out}, {mask({90})}, GUF_F32});
}

TEST_P(ChunkedResults, SeveralOutputs) {
  expect_same({"divmod", {f8({70}, 1), f8({70}, 2)}, {f8({70}, 3), f8({70}, 4)}});
  expect_same({"frexp",
               {f8({70}, 1)},
               {f8({70}, 2, 140).strided({16}), Values::of<int32_t>(GUF_I32, {70}, 3)}});
  expect_same({"frexp", {f4({70}, 1)}, {f8({70}, 2), Values::of<int64_t>(GUF_I64, {70}, 3)}});
}

TEST_P(ChunkedResults, CoreDimensions) {
  expect_same({"matmul", {f8({9, 3, 4}, 1), f8({9, 4, 2}, 2)}, {f8({9, 3, 2}, 3)}});
  expect_same({"matmul", {f8({9, 3, 4}, 1), f8({4, 2}, 2)}, {f8({9, 3, 2}, 3)}});
  expect_same({"vecdot", {f8({30, 6}, 1), f8({6}, 2)}, {f8({30}, 3)}});
  expect_same({"vecdot",
               {f8({30, 6}, 1, 180).strided({8, 240}), f8({30, 6}, 2, 30).strided({8, 0})},
               {f8({30}, 3)}});
  expect_same({"matmul", {f8({3, 4}, 1), f8({4, 2}, 2)}, {f8({3, 2}, 3)}});  // one outer item
}

TEST_P(ChunkedResults, InPlace) {
  Values a = f8({60}, 1);
  const Values b = f8({60}, 2);
  Case expected = {"add", {a, b}, {f8({60}, 3)}};
  ASSERT_EQ(call(expected), GUF_OK) << error_.message;
  Case given = {"add", {a, b}, {f8({60}, 3)}};
  // The output uses the memory of the first input.
  guf_array array = nullptr;
  Operands operands;
  const guf_tensor *const tensor = operands.tensor({GUF_F64, a.bytes.data(), {60}, {}, 0})->tensor;
  ASSERT_EQ(guf_array_wrap(tensor, nullptr, nullptr, 0, &array, &error_), GUF_OK);
  given.inputs[0].array = given.outputs[0].array = array;
  options_.chunk_bytes = 56;
  EXPECT_EQ(call_chunked(given), GUF_OK) << error_.message;
  EXPECT_EQ(a.bytes, expected.outputs[0].bytes);
  guf_array_release(array, nullptr);
}

// Host memory that the device has allocated is copied without staging, or used in place.
TEST_P(ChunkedResults, MemoryOfTheDevicesOwnKinds) {
  const int64_t n = 200;
  Case expected = {"add", {f8({n}, 1), f8({n}, 2)}, {f8({n}, 3)}};
  ASSERT_EQ(call(expected), GUF_OK) << error_.message;
  const uint64_t nbytes = expected.outputs[0].bytes.size();
  const char *const copy = is_cuda() ? "cuMemcpyHtoDAsync_v2" : "hipMemcpyHtoDAsync";
  for (const bool in_place : {false, true}) {
    for (const int32_t kind : {GUF_HOST_PINNED, GUF_HOST_MAPPED, GUF_HOST_MANAGED}) {
      guf_array arrays[3] = {};
      unsigned char *bytes[3] = {};
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(guf_array_alloc_host(device_, kind, GUF_F64, 1, &n, nullptr, GUF_ORDER_C,
                                       &arrays[i], &error_),
                  GUF_OK)
            << error_.message;
        guf_array_info info = {};
        info.struct_size = sizeof info;
        ASSERT_EQ(guf_array_get_info(arrays[i], &info, &error_), GUF_OK);
        bytes[i] = reinterpret_cast<unsigned char *>(info.address);
        if (i < 2)
          std::memcpy(bytes[i], expected.inputs[static_cast<size_t>(i)].bytes.data(), nbytes);
      }
      const int result = in_place ? 0 : 2;
      Case given = expected;
      given.inputs[0].array = arrays[0];
      given.inputs[1].array = arrays[1];
      given.outputs[0].array = arrays[result];
      options_.chunk_bytes = 8 * 30;
      sim().clear_calls();
      EXPECT_EQ(call_chunked(given), GUF_OK) << error_.message;
      EXPECT_EQ(std::memcmp(bytes[result], expected.outputs[0].bytes.data(), nbytes), 0) << kind;
      EXPECT_EQ(report_.size(), 7U);
      // An inout operand is staged. The device accesses all other operands directly.
      const uint64_t copies = kind == GUF_HOST_PINNED ? 2 : in_place ? 1 : 0;
      if (is_on_device()) {
        EXPECT_EQ(sim().calls(copy), 7 * copies) << kind;
      }
      for (const guf_array array : arrays) guf_array_release(array, nullptr);
    }
  }
}

// The device copies page-locked memory directly, even if no more memory can be page-locked.
TEST_P(ChunkedResults, PageLockedMemoryNeedsNoStaging) {
  if (!is_on_device()) return;
  const int64_t n = 400000;
  Case expected = {"add", {f8({n}, 1), f8({n}, 2)}, {f8({n}, 3)}};
  ASSERT_EQ(call(expected), GUF_OK) << error_.message;
  options_.chunk_bytes = 600000;
  const std::string fault = is_cuda() ? "cuMemHostAlloc:0:2" : "hipHostMalloc:0:2";
  Case given = expected;
  std::fill(given.outputs[0].bytes.begin(), given.outputs[0].bytes.end(), 0);
  ASSERT_EQ(sim().fault(fault.c_str()), 0);
  EXPECT_NE(call_chunked(given), GUF_OK);
  sim().clear_faults();
  std::vector<Values *> all = {&given.inputs[0], &given.inputs[1], &given.outputs[0]};
  for (Values *values : all) {
    ASSERT_EQ(guf_host_register(device_, reinterpret_cast<uint64_t>(values->bytes.data()),
                                values->bytes.size(), &error_),
              GUF_OK)
        << error_.message;
  }
  ASSERT_EQ(sim().fault(fault.c_str()), 0);
  EXPECT_EQ(call_chunked(given), GUF_OK) << error_.message;
  EXPECT_EQ(given.outputs[0].bytes, expected.outputs[0].bytes);
  sim().clear_faults();
  for (Values *values : all) {
    EXPECT_EQ(
        guf_host_unregister(device_, reinterpret_cast<uint64_t>(values->bytes.data()), &error_),
        GUF_OK);
  }
  ASSERT_EQ(sim().fault(fault.c_str()), 0);
  EXPECT_NE(call_chunked(given), GUF_OK);
}

// An unchunked call that uses mapped host memory in place is complete when it returns, like a
// chunked call.
TEST_P(ChunkedResults, ACallOnMappedMemoryIsComplete) {
  const int64_t n = 1000;
  guf_array array = nullptr;
  ASSERT_EQ(guf_array_alloc_host(device_, GUF_HOST_MAPPED, GUF_F64, 1, &n, nullptr, GUF_ORDER_C,
                                 &array, &error_),
            GUF_OK)
      << error_.message;
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK);
  auto *const elements = reinterpret_cast<double *>(info.address);
  for (int64_t i = 0; i < n; ++i) elements[i] = static_cast<double>(i);
  Case given = {"negative", {f8({n}, 1)}, {f8({n}, 1)}};
  given.inputs[0].array = given.outputs[0].array = array;
  whole_on_device_ = true;
  ASSERT_EQ(call(given), GUF_OK) << error_.message;
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(elements[i], -static_cast<double>(i)) << i;
  guf_array_release(array, nullptr);
}

TEST_P(ChunkedResults, NoItems) {
  expect_same({"add", {f8({0}, 1), f8({0}, 2)}, {f8({0}, 3)}});
  EXPECT_TRUE(report_.empty());
  EXPECT_EQ(done_, 0);
  expect_same({"add", {f8({5, 0}, 1), f8({5, 0}, 2)}, {f8({5, 0}, 3)}});
  EXPECT_EQ(done_, 5);  // all items are reported as complete, although they have no elements
  expect_same({"vecdot", {f8({0, 4}, 1), f8({4}, 2)}, {f8({0}, 3)}});
  expect_same({"vecdot", {f8({4, 0}, 1), f8({0}, 2)}, {f8({4}, 3)}});  // the results are zeros
}

INSTANTIATE_TEST_SUITE_P(Where, ChunkedResults, testing::Bool(),
                         [](const auto &where) { return where.param ? "OnADevice" : "OnTheCpu"; });

}  // namespace
}  // namespace gufunc::gpu_test
