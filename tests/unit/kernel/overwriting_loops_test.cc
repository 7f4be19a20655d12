// SPDX-License-Identifier: Apache-2.0
// Tests loops that overwrite their first operand, and loops with a batch function.
#include <gtest/gtest.h>
#include <gufunc/kernel/host_batch.hpp>
#include <gufunc/kernel/overwritten.hpp>

#include <numeric>
#include <vector>

namespace {

using guf::i64;
using guf::role;
using guf::host::batched;
using guf::host::generalized;
using guf::host::operand;
using guf::host::overwriting;
using guf::host::overwritten;

struct SumAndClear {  // signature (m,n)->()
  template <class X, class Y>
  static void call(X x, Y y) {
    guf::value_t<typename Y::type> sum = 0;
    for (i64 i = 0; i < x.extent(0); ++i)
      for (i64 j = 0; j < x.extent(1); ++j) {
        sum = 2 * sum + guf::load(x(i, j));
        x(i, j) = 0;
      }
    y() = sum;
  }
};

template <class T>
char *bytes(std::vector<T> &v, size_t first = 0) {
  return reinterpret_cast<char *>(&v[first]);
}

using Clearing =
    overwriting<SumAndClear, false, false, overwritten<float, 0, 1>, operand<float, role::out>>;

TEST(OverwritingLoops, CopyEachItemForAnyStrides) {
  std::vector<float> x(12), y(3);
  std::iota(x.begin(), x.end(), 1.0f);
  const std::vector<float> kept = x;
  char *args[] = {bytes(x), bytes(y)};
  const i64 dims[] = {2, 2, 3}, packed[] = {24, 4, 12, 4}, transposed[] = {24, 4, 4, 8};
  Clearing::run(args, dims, packed);
  EXPECT_EQ(y, (std::vector<float>{120, 498, 0}));
  Clearing::run(args, dims, transposed);
  EXPECT_EQ(y, (std::vector<float>{142, 520, 0}));
  char *last[] = {bytes(x, 5), bytes(y)};
  const i64 same_dims[] = {3, 2, 3}, same_item[] = {0, 4, -12, -4};
  Clearing::run(last, same_dims, same_item);
  EXPECT_EQ(y, std::vector<float>(3, 321));
  EXPECT_EQ(x, kept);
}

TEST(OverwritingLoops, OverwriteLargeItems) {
  constexpr i64 kLargest = guf::kItemCopyBytes / 4;
  for (const i64 columns : {kLargest, kLargest + 1}) {
    std::vector<float> x(static_cast<size_t>(columns), 1.0f), y(1);
    char *args[] = {bytes(x), bytes(y)};
    const i64 dims[] = {1, 1, columns}, steps[] = {0, 0, 4 * columns, 4};
    Clearing::run(args, dims, steps);
    EXPECT_EQ(x[0], columns > kLargest ? 0.0f : 1.0f);
  }
}

TEST(OverwritingLoops, AcceptEmptyItems) {
  std::vector<float> x(1), y(2, 9.0f);
  char *args[] = {bytes(x), bytes(y)};
  const i64 dims[] = {2, 0, i64{1} << 40}, steps[] = {0, 4, 4, 4};
  Clearing::run(args, dims, steps);
  EXPECT_EQ(y, (std::vector<float>{0, 0}));
}

TEST(ItemCopy, IsDecidedBySizeWithoutOverflow) {
  const i64 far = i64{1} << 62;
  const i64 square[] = {32, 64}, larger[] = {32, 65}, huge[] = {far, far}, none[] = {0, far};
  EXPECT_TRUE(guf::loop_copies_item(square, 2, 8));
  EXPECT_FALSE(guf::loop_copies_item(larger, 2, 8));
  EXPECT_FALSE(guf::loop_copies_item(huge, 2, 8));
  EXPECT_FALSE(guf::loop_copies_item(none, 2, 8));
}

struct ScaledSum {  // signature (m,n),()->(n)
  template <class X, class S, class Y>
  static void call(X x, S scale, Y y) {
    for (i64 j = 0; j < x.extent(1); ++j) {
      y[j] = 0;
      for (i64 i = 0; i < x.extent(0); ++i) y[j] += scale * x(i, j);
    }
  }
};
int batches = 0;
struct ScaledSumBatch {
  template <class X, class S, class Y>
  static void call(X x, S scale, Y y) {
    ++batches;
    for (i64 j = 0; j < x.extent(1); ++j) {
      y[j] = guf::lanes<double>{};
      for (i64 i = 0; i < x.extent(0); ++i) y[j] += scale() * x(i, j);
    }
  }
};

// Eight numbers of f64 are a batch, so 19 items are two batches and three items.
TEST(BatchedLoops, ComputeBatchesAndTheRemainingItems) {
  using Plain = generalized<ScaledSum, false, false, operand<double, role::in, 0, 1>,
                            operand<double, role::in>, operand<double, role::out, 1>>;
  using Loop = batched<ScaledSumBatch, Plain, operand<double, role::in, 0, 1>,
                       operand<double, role::in>, operand<double, role::out, 1>>;
  constexpr i64 kItems = 19;
  std::vector<double> x(kItems * 6), scale(kItems), y(kItems * 3), expected(kItems * 3);
  std::iota(x.begin(), x.end(), 0.5);
  std::iota(scale.begin(), scale.end(), -3.0);
  const i64 dims[] = {kItems, 2, 3};
  // Contiguous operands, and then the transpose of each item, one scale, and results in reverse.
  const i64 layouts[][6] = {{48, 8, 24, 24, 8, 8}, {48, 0, 24, 8, 16, -8}};
  for (const auto &steps : layouts) {
    const size_t first = steps[5] < 0 ? 2 : 0;
    char *args[] = {bytes(x), bytes(scale), bytes(y, first)};
    char *plain[] = {bytes(x), bytes(scale), bytes(expected, first)};
    Plain::run(plain, dims, steps);
    batches = 0;
    Loop::run(args, dims, steps);
    EXPECT_EQ(batches, 2);
    EXPECT_EQ(y, expected);
  }
}

TEST(BatchedLoops, ComputeLargeAndEmptyItemsOneByOne) {
  using Plain = generalized<ScaledSum, false, false, operand<double, role::in, 0, 1>,
                            operand<double, role::in>, operand<double, role::out, 1>>;
  using Loop = batched<ScaledSumBatch, Plain, operand<double, role::in, 0, 1>,
                       operand<double, role::in>, operand<double, role::out, 1>>;
  for (const i64 rows : {i64{0}, i64{16}, i64{17}}) {
    std::vector<double> x(static_cast<size_t>(8 * rows * 4 + 1), 1.0), scale(1, 2.0), y(8 * 4);
    char *args[] = {bytes(x), bytes(scale), bytes(y)};
    const i64 dims[] = {8, rows, 4}, steps[] = {rows * 32, 0, 32, 32, 8, 8};
    batches = 0;
    Loop::run(args, dims, steps);
    EXPECT_EQ(batches, rows == 16 ? 1 : 0);
    EXPECT_EQ(y, std::vector<double>(32, 2.0 * static_cast<double>(rows)));
  }
}

}  // namespace
