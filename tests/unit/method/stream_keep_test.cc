// SPDX-License-Identifier: Apache-2.0
// Tests that the queued work of methods keeps its resources alive.
#include <algorithm>

#include "tests/unit/method/stream_keep_fixture.h"

namespace gufunc {
namespace {

class StreamKeepReduction : public StreamKeep, public testing::WithParamInterface<bool> {};

// If the output overlaps the mask, the call copies the mask first.
TEST_P(StreamKeepReduction, OperandsAndTheMask) {
  block();
  std::vector<uint8_t> &x = bits(3000, 2), &mask = bits(3000, 7), &other = bits(1000, 5);
  uint8_t *const to = GetParam() ? mask.data() + 2000 : other.data();
  std::vector<uint8_t> expected(1000);
  for (size_t k = 0; k < 3000; ++k) expected[k / 3] |= mask[k] != 0 && x[k] != 0;
  Reduce reduce("logical_or", {});
  reduce.axes({1});
  reduce.args.input = wrapped(matrix(GUF_BOOL, x, 1000, 3));
  reduce.args.output = wrapped({GUF_BOOL, to, {1000}, {}, 0});
  reduce.args.where = wrapped(matrix(GUF_BOOL, mask, 1000, 3));
  reduce.args.options.stream = stream_;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  run_released();
  EXPECT_EQ(std::vector<uint8_t>(to, to + 1000), expected);
}
INSTANTIATE_TEST_SUITE_P(Overlapping, StreamKeepReduction, testing::Bool());

// This call has more axes than a launch block supports, so the input and the mask are copied first.
TEST_F(StreamKeep, GatheredOperandsStayAlive) {
  block();
  constexpr int kNdim = 11;
  std::vector<int64_t> shape(kNdim, 2), strides(kNdim), axes(kNdim);
  for (int k = 0; k < kNdim; ++k) strides[static_cast<size_t>(k)] = int64_t{1} << (k * 5 % kNdim);
  std::iota(axes.begin(), axes.end(), 0);
  std::vector<uint8_t> &mask = bits(1 << kNdim, 3);
  std::vector<double> &x = doubles(1 << kNdim), &result = doubles(1);
  double expected = 0;
  for (size_t k = 0; k < x.size(); ++k) expected += mask[k] != 0 ? x[k] : 0;
  Reduce reduce("add", {});
  reduce.axes(axes);
  reduce.args.where = wrapped({GUF_BOOL, mask.data(), shape, strides, 0});
  for (int64_t &stride : strides) stride *= 8;
  reduce.args.input = wrapped({GUF_F64, x.data(), shape, strides, 0});
  reduce.args.output = wrapped({GUF_F64, result.data(), {}, {}, 0});
  reduce.args.options.stream = stream_;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  run_released();
  EXPECT_EQ(result[0], expected);
}

TEST_F(StreamKeep, OperandsAndResultsOfAReductionWithAState) {
  block();
  std::vector<int32_t> x(300);
  std::iota(x.begin(), x.end(), 0);
  std::vector<uint8_t> &mask = bits(300, 3);
  std::vector<int64_t> &hashes = integers(1), &counts = integers(1);
  Reduce reduce(trace(), {});
  reduce.args.input = wrapped(view(GUF_I32, x));
  reduce.args.where = wrapped(view(GUF_BOOL, mask));
  guf_operand results[2] = {*wrapped({GUF_U64, hashes.data(), {}, {}, 0}),
                            *wrapped({GUF_I64, counts.data(), {}, {}, 0})};
  reduce.args.output = nullptr;
  reduce.args.outputs = results;
  reduce.args.noutputs = 2;
  reduce.args.options.stream = stream_;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  run_released();
  EXPECT_EQ(counts[0], std::count(mask.begin(), mask.end(), 1));
}

TEST_F(StreamKeep, OperandsOfAccumulate) {
  block();
  std::vector<double> &x = doubles(1001);
  Accumulate accumulate("add", {});
  accumulate.args.input = wrapped({GUF_F64, x.data(), {1000}, {}, 0});
  accumulate.args.output = wrapped({GUF_F64, x.data() + 1, {1000}, {}, 0});
  accumulate.args.options.stream = stream_;
  ASSERT_EQ(accumulate.run(), GUF_OK) << accumulate.error.message;
  run_released();
  EXPECT_EQ(x[1000], 499500);
}

// The call reads the indices before it returns, so the caller may overwrite them.
TEST_F(StreamKeep, OperandsOfReduceat) {
  std::vector<int64_t> &x = integers(kMany), &indices = integers(kMany / 2),
                       &sums = integers(kMany / 2);
  std::vector<int64_t> expected;
  for (int64_t &index : indices) {
    expected.push_back(4 * index + 1);  // a segment of two elements, which needs an addition
    index *= 2;
  }
  Accumulate reduceat(gated_add(), {});
  reduceat.args.input = wrapped(view(GUF_I64, x));
  reduceat.args.output = wrapped(view(GUF_I64, sums));
  reduceat.args.options.stream = stream_;
  ASSERT_EQ(reduceat.run_at(view(GUF_I64, indices)), GUF_OK) << reduceat.error.message;
  indices.assign(indices.size(), 0);
  run_released();
  EXPECT_EQ(sums, expected);
}

// The operand is the array in reverse, so the call copies it first.
TEST_F(StreamKeep, OperandsOfAt) {
  std::vector<int64_t> &x = integers(kMany), &indices = integers(kMany);
  At at("add", {});
  at.handle = gated_add();
  at.args.array = wrapped(view(GUF_I64, x));
  at.args.operand = wrapped({GUF_I64, &x[kMany - 1], {kMany}, {-8}, 0});
  at.index(view(GUF_I64, indices));
  at.args.options.stream = stream_;
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  indices.assign(kMany, 0);
  run_released();
  EXPECT_EQ(x, std::vector<int64_t>(kMany, kMany - 1));
}

TEST_F(StreamKeep, ScalarOperandsOfMethods) {
  std::vector<int64_t> &x = integers(kMany), &indices = integers(kMany), &sum = integers(1);
  At at("add", {});
  at.handle = gated_add();
  at.args.array = wrapped(view(GUF_I64, x));
  at.args.operand = at.weak_int(5);
  at.index(view(GUF_I64, indices));
  at.args.options.stream = stream_;
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  Reduce reduce("add", {});
  reduce.args.input = reduce.weak_int(7);
  reduce.args.output = wrapped({GUF_I64, sum.data(), {}, {}, 0});
  reduce.args.options.stream = stream_;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  run_released();
  EXPECT_EQ(x[0], 5);
  EXPECT_EQ(x[kMany - 1], kMany + 4);
  EXPECT_EQ(sum[0], 7);
}

}  // namespace
}  // namespace gufunc
