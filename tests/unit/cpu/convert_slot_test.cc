// SPDX-License-Identifier: Apache-2.0
// Tests the convert, copy and fill slots with several memory layouts, byte orders and alignments.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

struct Row {
  const char *name;
  guf_dtype dtype;
  std::vector<int64_t> sizes;               // innermost dimension first
  std::vector<std::vector<int64_t>> steps;  // strides in elements: source, then destination
  bool swap_from = false, swap_to = false, odd_from = false, odd_to = false;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"Nothing", GUF_F64, {0}, {{1}, {1}}},
    {"One", GUF_F64, {}, {{}, {}}},
    {"Flat", GUF_I16, {5000}, {{1}, {1}}},
    {"FlatLarge", GUF_U8, {3000000}, {{1}, {1}}},
    {"Strided", GUF_F32, {1000}, {{3}, {2}}},
    {"Transposed", GUF_F64, {100, 70}, {{1, 100}, {70, 1}}},
    {"TransposedLarge", GUF_F32, {700, 600}, {{600, 1}, {1, 700}}},
    {"TransposedComplex", GUF_C128, {65, 33}, {{1, 65}, {33, 1}}},
    {"ThreeDims", GUF_I8, {31, 33, 5}, {{1, 31, 1023}, {165, 5, 1}}},
    {"SmallestStep", GUF_I8, {1, 100}, {{INT64_MIN, 1}, {INT64_MIN, 1}}},
    {"Swapped", GUF_F64, {1000}, {{1}, {1}}, true},
    {"SwappedBoth", GUF_I32, {1000}, {{1}, {1}}, true, true},
    {"SwappedComplex", GUF_C64, {1000}, {{1}, {1}}, false, true},
    {"SwappedTransposed", GUF_C128, {40, 50}, {{50, 1}, {1, 40}}, true},
    {"Unaligned", GUF_U16, {500, 20}, {{1, 500}, {20, 1}}, false, false, true, true},
};

class Convert : public testing::TestWithParam<Row> {};

TEST_P(Convert, CopiesEachElement) {
  const Row &row = GetParam();
  const size_t size = (row.dtype >> 8 & 0xFF) / 8;
  const bool complex = row.dtype == GUF_C64 || row.dtype == GUF_C128;
  const size_t unit = complex ? size / 2 : size;
  std::vector<char> from(8000000), to(8000000, 0), expected(8000000, 0);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 2654435761u >> 13);
  char *source = from.data() + (row.odd_from ? 1 : 0);
  char *target = to.data() + (row.odd_to ? 1 : 0);
  BlockRow geometry{1, row.sizes, {source, target}, row.steps, {row.dtype, row.dtype}};
  for (auto &steps : geometry.steps) {
    for (int64_t &step : steps) step *= static_cast<int64_t>(size);
  }
  guf_launch_block block = make_block(geometry);
  const auto flag = [&](int operand, bool on, uint32_t bit) {
    if (on) block.operand_flags[operand] |= bit;
  };
  flag(0, row.swap_from, GUF_LAUNCH_OPERAND_SWAPPED);
  flag(1, row.swap_to, GUF_LAUNCH_OPERAND_SWAPPED);
  flag(0, row.odd_from, GUF_LAUNCH_OPERAND_UNALIGNED);
  flag(1, row.odd_to, GUF_LAUNCH_OPERAND_UNALIGNED);
  for (uint64_t item = 0; item < block.items; ++item) {
    int64_t at[2] = {};
    uint64_t rest = item;
    for (size_t d = 0; d < row.sizes.size(); ++d) {
      const auto index = static_cast<int64_t>(rest % static_cast<uint64_t>(row.sizes[d]));
      rest /= static_cast<uint64_t>(row.sizes[d]);
      for (size_t i = 0; i < 2; ++i) at[i] += index * geometry.steps[i][d];
    }
    char *out = expected.data() + (target - to.data()) + at[1];
    for (size_t b = 0; b < size; ++b) {
      const size_t swapped = b / unit * unit + unit - 1 - b % unit;
      out[b] = source[at[0] + static_cast<int64_t>(row.swap_from != row.swap_to ? swapped : b)];
    }
  }
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().convert(cpu_device(), nullptr, &block, &error), GUF_OK) << error.message;
  EXPECT_TRUE(to == expected);
}
INSTANTIATE_TEST_SUITE_P(Rows, Convert, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(Convert, UnknownDtypeIsRefused) {
  char byte = 0;
  const guf_launch_block block =
      make_block({1, {}, {&byte, &byte}, {{}, {}}, {GUF_U8, 0x12345678}});
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().convert(cpu_device(), nullptr, &block, &error), GUF_E_DTYPE);
}

TEST(Convert, EveryNumericDtypeHasACastToEveryOther) {
  constexpr guf_dtype kDtypes[] = {
#define GUF_DTYPE(NAME, ...) GUF_##NAME,
#include <gufunc/dtypes.def>
  };
  alignas(16) char zero[16] = {};
  for (const guf_dtype from : kDtypes) {
    for (const guf_dtype to : kDtypes) {
      alignas(16) char result[16];
      std::memset(result, 1, sizeof result);
      const guf_launch_block block = make_block({1, {}, {zero, result}, {{}, {}}, {from, to}});
      guf_error error = fresh_error();
      ASSERT_EQ(cpu().convert(cpu_device(), nullptr, &block, &error), GUF_OK) << error.message;
      const size_t size = (to >> 8 & 0xFF) / 8;
      EXPECT_EQ(std::count(result, result + sizeof result, 0), static_cast<ptrdiff_t>(size));
    }
  }
}

TEST(Copy, OfAnySize) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{1} << 20, size_t{5000001}}) {
    std::vector<char> from(size + 1), to(size + 1, 0);
    for (size_t i = 0; i < size; ++i) from[i] = static_cast<char>(i % 251 + 1);
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().copy(cpu_device(), nullptr, reinterpret_cast<uint64_t>(to.data()),
                         reinterpret_cast<uint64_t>(from.data()), size, GUF_COPY_DEVICE_TO_DEVICE,
                         &error),
              GUF_OK);
    EXPECT_TRUE(from == to) << size;
  }
}

TEST(Fill, RepeatsThePattern) {
  const char pattern[] = "0123456789abcdef";
  for (const uint32_t width : {1u, 2u, 3u, 4u, 8u, 16u}) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{100000}}) {
      std::vector<char> to(width * count + 1, 'x');
      guf_error error = fresh_error();
      ASSERT_EQ(cpu().fill(cpu_device(), nullptr, reinterpret_cast<uint64_t>(to.data()), pattern,
                           width, count, &error),
                GUF_OK);
      bool right = to.back() == 'x';
      for (size_t i = 0; i < width * count; ++i) right = right && to[i] == pattern[i % width];
      EXPECT_TRUE(right) << width << " " << count;
    }
  }
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().fill(cpu_device(), nullptr, 0, pattern, 17, 1, &error), GUF_E_UNSUPPORTED);
}

}  // namespace
}  // namespace gufunc::cpu
