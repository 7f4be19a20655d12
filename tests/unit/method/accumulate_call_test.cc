// SPDX-License-Identifier: Apache-2.0
// Tests accumulate and reduceat.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AccumulateCall, ReturnsAllPartialResults) {
  const std::vector<int8_t> data = {1, 2, 3, 4, 5, 6};
  Accumulate rows("add", matrix(GUF_I8, data, 2, 3));
  ASSERT_EQ(rows.run(), GUF_OK) << rows.error.message;
  EXPECT_EQ(info_of(rows.output).dtype, GUF_I64);
  EXPECT_THAT(elements_of<int64_t>(rows.output), ElementsAre(1, 2, 3, 5, 7, 9));
  Accumulate columns("subtract", matrix(GUF_I8, data, 2, 3));
  columns.args.axis = -1;
  ASSERT_EQ(columns.run(), GUF_OK) << columns.error.message;
  EXPECT_THAT(elements_of<int8_t>(columns.output), ElementsAre(1, -1, -4, 4, -1, -7));
}

TEST(AccumulateCall, RunsInPlace) {
  std::vector<double> data = {1, 2, 3, 4};
  Accumulate accumulate("multiply", view(GUF_F64, data));
  accumulate.into(view(GUF_F64, data));
  ASSERT_EQ(accumulate.run(), GUF_OK) << accumulate.error.message;
  EXPECT_THAT(data, ElementsAre(1, 2, 6, 24));
}

TEST(AccumulateCall, CopiesInputsThatOverlapOtherwise) {
  std::vector<double> data = {1, 2, 3, 4, 0};
  Accumulate shifted("add", {GUF_F64, data.data(), {4}, {}, 0});
  shifted.into({GUF_F64, data.data() + 1, {4}, {}, 0});
  ASSERT_EQ(shifted.run(), GUF_OK) << shifted.error.message;
  EXPECT_THAT(data, ElementsAre(1, 1, 3, 6, 10));
  std::vector<double> transposed = {1, 2, 3, 4};
  Accumulate backwards("add", view(GUF_F64, transposed));
  backwards.into({GUF_F64, transposed.data() + 3, {4}, {-8}, 0});
  ASSERT_EQ(backwards.run(), GUF_OK) << backwards.error.message;
  EXPECT_THAT(transposed, ElementsAre(10, 6, 3, 1));
}

TEST(AccumulateCall, StretchesKeptAxesIntoAWiderOutput) {
  const std::vector<double> data = {1, 2};
  std::vector<double> result(6);
  Accumulate accumulate("add", matrix(GUF_F64, data, 2, 1));
  accumulate.into(matrix(GUF_F64, result, 2, 3));
  ASSERT_EQ(accumulate.run(), GUF_OK) << accumulate.error.message;
  EXPECT_THAT(result, ElementsAre(1, 1, 1, 3, 3, 3));
}

TEST(AccumulateCall, OfNothingIsNothing) {
  const double nothing = 0;
  Accumulate accumulate("maximum", {GUF_F64, &nothing, {0, 3}, {}, 0});
  ASSERT_EQ(accumulate.run(), GUF_OK) << accumulate.error.message;
  EXPECT_THAT(elements_of<double>(accumulate.output), IsEmpty());
}

TEST(ReduceatCall, FoldsStretches) {
  std::vector<int64_t> data(8);
  std::iota(data.begin(), data.end(), 0);
  Accumulate reduceat("add", view(GUF_I64, data));
  const std::vector<int64_t> indices = {0, 4, 1, 5, 2, 6, 3, 7};
  ASSERT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
  EXPECT_THAT(elements_of<int64_t>(reduceat.output), ElementsAre(6, 4, 10, 5, 14, 6, 18, 7));
}

TEST(ReduceatCall, TakesIndicesOfAnyWidthStrideAndOrder) {
  const std::vector<double> data = {1, 2, 3, 4};
  const std::vector<uint8_t> bytes = {0, 9, 2, 9};
  Accumulate narrow("add", view(GUF_F64, data));
  ASSERT_EQ(narrow.run_at({GUF_U8, bytes.data(), {2}, {2}, 0}), GUF_OK) << narrow.error.message;
  EXPECT_THAT(elements_of<double>(narrow.output), ElementsAre(3, 7));
  const std::vector<int32_t> swapped = {static_cast<int32_t>(__builtin_bswap32(3))};
  Accumulate transposed("add", view(GUF_F64, data));
  ASSERT_EQ(transposed.run_at({GUF_I32, swapped.data(), {1}, {}, GUF_TENSOR_SWAPPED}), GUF_OK);
  EXPECT_THAT(elements_of<double>(transposed.output), ElementsAre(4));
}

TEST(ReduceatCall, IndicesThatTheOutputOverwritesAreReadFirst) {
  const std::vector<int64_t> data = {5, 6, 7};
  std::vector<int64_t> indices = {0, 2};
  Accumulate reduceat("add", view(GUF_I64, data));
  reduceat.into(view(GUF_I64, indices));
  ASSERT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
  EXPECT_THAT(indices, ElementsAre(11, 7));
}

// The call has more results than the backend computes at a time, and its first results overwrite
// the last indices. The results are valid indices, so an index that is read too late causes wrong
// results instead of an out-of-bounds access.
TEST(ReduceatCall, IndicesOverwrittenBackwardsAreReadFirst) {
  constexpr int64_t kCount = 600;
  std::vector<int64_t> data(kCount), indices(kCount), expected(kCount);
  for (int64_t k = 0; k < kCount; ++k) {
    data[static_cast<size_t>(k)] = k * 7 % kCount;
    indices[static_cast<size_t>(k)] = k * 11 % kCount;
  }
  for (int64_t k = 0; k < kCount; ++k) {
    const int64_t begin = indices[static_cast<size_t>(k)];
    const int64_t end = k + 1 < kCount ? indices[static_cast<size_t>(k + 1)] : kCount;
    int64_t most = data[static_cast<size_t>(begin)];
    for (int64_t i = begin; i < end; ++i) most = std::max(most, data[static_cast<size_t>(i)]);
    expected[static_cast<size_t>(kCount - 1 - k)] = most;
  }
  Accumulate reduceat("maximum", view(GUF_I64, data));
  reduceat.into({GUF_I64, &indices[kCount - 1], {kCount}, {-8}, 0});
  ASSERT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
  EXPECT_EQ(indices, expected);
}

// Each result reduces elements at smaller positions. The call writes earlier results to these
// positions, so it must read the elements first.
TEST(ReduceatCall, InputsThatTheOutputOverwritesAreReadFirst) {
  constexpr int64_t kCount = 600;
  std::vector<int64_t> data(kCount), indices(kCount), expected(kCount, 0);
  std::iota(data.begin(), data.end(), 1);
  for (int64_t k = 1; k < kCount; ++k) indices[static_cast<size_t>(k)] = k / 2;
  for (size_t k = 0; k < kCount; ++k) {
    const int64_t end = k + 1 < kCount ? indices[k + 1] : kCount;
    const int64_t begin = indices[k];
    for (int64_t i = begin; i < std::max(end, begin + 1); ++i) expected[k] += i + 1;
  }
  Accumulate reduceat("add", view(GUF_I64, data));
  reduceat.into(view(GUF_I64, data));
  ASSERT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
  EXPECT_EQ(data, expected);
}

TEST(ReduceatCall, NoIndicesReturnNoResults) {
  const std::vector<int64_t> data = {5, 6, 7};
  const int64_t nothing = 0;
  Accumulate reduceat("add", view(GUF_I64, data));
  ASSERT_EQ(reduceat.run_at({GUF_I64, &nothing, {0}, {}, 0}), GUF_OK) << reduceat.error.message;
  EXPECT_EQ(info_of(reduceat.output).shape[0], 0);
}

// As in NumPy, the axis of reduceat is the outermost axis of an allocated output.
TEST(ReduceatCall, FreshOutputsPutTheAxisOutermost) {
  const std::vector<double> data(24, 1.0);
  Accumulate reduceat("add", {GUF_F64, data.data(), {2, 3, 4}, {8, 16, 48}, 0});
  const std::vector<int64_t> indices = {0, 1};
  reduceat.args.axis = 1;
  ASSERT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
  const guf_array_info info = info_of(reduceat.output);
  EXPECT_EQ(info.strides[0], 8);
  EXPECT_EQ(info.strides[1], 64);
  EXPECT_EQ(info.strides[2], 16);
}

}  // namespace
}  // namespace gufunc
