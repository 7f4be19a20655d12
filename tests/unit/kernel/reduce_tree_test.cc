// SPDX-License-Identifier: Apache-2.0
// Compares the reduction tree with a recursive implementation of its definition, and with a loop on
// many threads.
#include <gtest/gtest.h>
#include <gufunc/kernel/group.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using guf::i64;

float base_block(const std::vector<float> &x, size_t first, size_t count) {
  if (count < 8) {
    float all = x[first];
    for (size_t i = 1; i < count; ++i) all += x[first + i];
    return all;
  }
  float part[8];
  for (size_t j = 0; j < 8; ++j) part[j] = x[first + j];
  for (size_t i = 8; i < count / 8 * 8; ++i) part[i % 8] += x[first + i];
  float all =
      ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  for (size_t i = count / 8 * 8; i < count; ++i) all += x[first + i];
  return all;
}

// Combines neighbouring pairs of values, then pairs of the results, until one value remains.
float join(std::vector<float> level) {
  while (level.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(level[i] + level[i + 1]);
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = next;
  }
  return level[0];
}

float by_definition(const std::vector<float> &x, size_t n) {
  std::vector<float> base_blocks;
  for (size_t i = 0; i < n; i += 128)
    base_blocks.push_back(base_block(x, i, std::min<size_t>(128, n - i)));
  return join(base_blocks);
}

std::vector<float> sample(size_t n) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-100, 100);
  std::vector<float> x(n);
  for (float &v : x) v = uniform(random);
  return x;
}

TEST(ReduceTree, SumHasTheBitsOfItsDefinition) {
  const auto x = sample(70000);
  guf::single_thread g;
  int differs_from_a_left_fold = 0;
  for (size_t n = 1; n < x.size(); n += n < 1200 ? 1 : n / 3) {
    const float sum = g.sum(static_cast<i64>(n), [&](i64 i) { return x[static_cast<size_t>(i)]; });
    ASSERT_EQ(sum, by_definition(x, n)) << n;
    float fold = 0;
    for (size_t i = 0; i < n; ++i) fold += x[i];
    differs_from_a_left_fold += fold != sum;
  }
  EXPECT_GT(differs_from_a_left_fold, 500);
}

// The operations are not commutative, so they detect a change in the order of operands.
TEST(ReduceTree, OperandsKeepTheirOrder) {
  struct First {
    int operator()(int a, int) const { return a; }
  };
  struct Last {
    int operator()(int, int b) const { return b; }
  };
  guf::single_thread g;
  for (const i64 n : {1, 2, 7, 8, 9, 128, 129, 300, 384, 1000, 5000}) {
    const auto at = [](i64 i) { return static_cast<int>(i); };
    EXPECT_EQ(g.reduce<int>(n, at, First(), -1), 0) << n;
    // A base block of 8 or more elements has several accumulators with interleaved elements. The
    // last element of the last base block is still the last operand.
    EXPECT_EQ(g.reduce<int>(n, at, Last(), -1), n - 1) << n;
  }
}

TEST(ReduceTree, ExtremaOfSpecialValues) {
  guf::single_thread g;
  const std::vector<double> x = {3, -2, 7, 5};
  auto at = [&](i64 i) { return x[static_cast<size_t>(i)]; };
  EXPECT_EQ(g.min(4, at), -2);
  EXPECT_EQ(g.max(4, at), 7);
  EXPECT_EQ(g.min(0, at), HUGE_VAL);
  EXPECT_EQ(g.max(0, at), -HUGE_VAL);
  EXPECT_EQ(g.sum(0, at), 0);
  const auto nan_at = [&](i64 i) { return i == 2 ? std::nan("") : 1.0 * static_cast<double>(i); };
  EXPECT_TRUE(std::isnan(g.min(300, nan_at)));
  EXPECT_TRUE(std::isnan(g.max(300, nan_at)));
  EXPECT_EQ(g.min(0, [](i64 i) { return static_cast<int>(i); }), std::numeric_limits<int>::max());
  EXPECT_EQ(g.max(5, [](i64) { return -HUGE_VAL; }), -HUGE_VAL);
}

TEST(Group, SharedMemoryIsAlignedAndBounded) {
  alignas(16) static char memory[guf::kSharedBytes];
  guf::single_thread g(memory);
  char *first = g.shared<char>(3);
  double *second = g.shared<double>(10);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 16, 0u);
  EXPECT_GE(reinterpret_cast<char *>(second), first + 3);
  EXPECT_EQ(g.shared<char>(guf::kSharedBytes), nullptr);
  EXPECT_EQ(g.shared<char>(-1), nullptr);
  EXPECT_NE(g.shared<char>(guf::kSharedBytes - 16 - 80), nullptr);
  EXPECT_EQ(g.shared<char>(1), nullptr);
}

}  // namespace
