// SPDX-License-Identifier: Apache-2.0
// Compares launches of every geometry with a loop that runs item by item.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

constexpr size_t kCapacity = 1 << 20;  // number of floats per operand

struct Row {
  const char *name;
  std::vector<int64_t> sizes;               // innermost dimension first
  std::vector<std::vector<int64_t>> steps;  // strides in elements, by operand and dimension
  bool masked = false;
  uint32_t staged = 0;  // bit i is set if operand i is byte-swapped
  uint32_t odd = 0;     // bit i is set if operand i is misaligned by one byte
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"NoLoop", {}, {{}, {}, {}}},
    {"One", {1}, {{1}, {1}, {1}}},
    {"Empty", {0}, {{1}, {1}, {1}}},
    {"EmptyOuter", {3, 0}, {{1, 3}, {1, 3}, {1, 3}}},
    {"Flat", {1000}, {{1}, {1}, {1}}},
    {"Large", {300000}, {{1}, {1}, {1}}},
    {"Reversed", {70000}, {{-1}, {1}, {-1}}},
    {"Scalar", {70001}, {{0}, {1}, {1}}},
    {"Strided", {50000}, {{2}, {3}, {1}}},
    {"ManySmallRows", {3, 40000}, {{1, 3}, {1, 0}, {1, 3}}},
    {"ThreeDims", {17, 40, 90}, {{1, 17, 680}, {0, 1, 40}, {1, 17, 680}}},
    {"EightDims",
     {2, 2, 2, 2, 2, 2, 2, 300},
     {{1, 2, 4, 8, 16, 32, 64, 128}, {0, 1, 0, 1, 0, 1, 0, 1}, {1, 2, 4, 8, 16, 32, 64, 128}}},
    {"NegativeOuter", {100, 500}, {{1, -100}, {1, 100}, {1, 100}}},
    {"Transposed", {300, 200}, {{200, 1}, {1, 300}, {1, 300}}},
    {"ToTransposed", {129, 33}, {{1, 129}, {1, 129}, {33, 1}}},
    {"TransposedReversed", {301, 70}, {{-70, 1}, {1, 301}, {301, -1}}},
    {"TransposedThreeDims", {150, 40, 3}, {{40, 1, 6000}, {1, 150, 6000}, {1, 150, 6000}}},
    {"TransposedPlanes", {150, 90, 5}, {{90, 1, 13500}, {1, 150, 13500}, {1, 150, 13500}}},
    {"TransposedBoth", {1100, 80}, {{80, 1}, {80, 1}, {1, 1100}}},
    {"TransposedLongRows", {1500, 70}, {{70, 1}, {0, 1}, {1, 1500}}},
    {"ToTransposedLongRows", {2050, 19}, {{1, 2050}, {1, 0}, {19, 1}}},
    {"Masked", {1000}, {{1}, {1}, {1}}, true},
    {"MaskedLarge", {40, 3000}, {{1, 40}, {1, 40}, {1, 40}}, true},
    {"SwappedInput", {1000}, {{1}, {1}, {1}}, false, 1},
    {"SwappedAll", {70000}, {{1}, {1}, {1}}, false, 7},
    {"SwappedScalar", {5000}, {{0}, {1}, {1}}, false, 1},
    {"SwappedRows", {5, 3000}, {{1, 5}, {0, 1}, {1, 5}}, false, 3},
    {"SwappedMasked", {777, 60}, {{1, 777}, {1, 777}, {1, 777}}, true, 6},
    {"UnalignedInput", {1000}, {{1}, {1}, {1}}, false, 0, 2},
    {"UnalignedAll", {300, 300}, {{1, 300}, {1, 300}, {1, 300}}, false, 0, 7},
    {"UnalignedReversed", {3000}, {{-1}, {2}, {1}}, false, 5, 7},
};

float swapped(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  bits = __builtin_bswap32(bits);
  std::memcpy(&x, &bits, 4);
  return x;
}

// Memory of one operand, with guard space on both sides. The initial value of an element depends on
// its position.
class GuardedFloats {
 public:
  GuardedFloats(unsigned seed, bool swap, bool odd) : swap_(swap), bytes_(8 * kCapacity + 16) {
    origin_ = bytes_.data() + 4 * kCapacity + (odd ? 1 : 0);
    for (int64_t i = -static_cast<int64_t>(kCapacity) + 4; i < static_cast<int64_t>(kCapacity) - 4;
         ++i) {
      const uint32_t mixed = (static_cast<uint32_t>(i) ^ seed << 24) * 0x9e3779b1u;
      put(i, static_cast<float>((mixed >> 8) % 100000) / 8);
    }
  }
  GuardedFloats(const GuardedFloats &other)
      : swap_(other.swap_), bytes_(other.bytes_), origin_(bytes_.data() + other.offset()) {}
  char *origin() const { return origin_; }
  float get(int64_t i) const {
    float x;
    std::memcpy(&x, origin_ + 4 * i, 4);
    return swap_ ? swapped(x) : x;
  }
  void put(int64_t i, float x) {
    if (swap_) x = swapped(x);
    std::memcpy(origin_ + 4 * i, &x, 4);
  }
  bool operator==(const GuardedFloats &other) const { return bytes_ == other.bytes_; }

 private:
  ptrdiff_t offset() const { return origin_ - bytes_.data(); }

  bool swap_;
  std::vector<char> bytes_;
  char *origin_;
};

class Launch : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() {
    cpu();
    test_host().config["GUFUNC_NUM_THREADS"] = "3";
  }
};

TEST_P(Launch, EqualsTheReferenceItemByItem) {
  const Row &row = GetParam();
  std::vector<GuardedFloats> operand, expected;
  BlockRow geometry{2, row.sizes, {}, {}, {GUF_F32, GUF_F32, GUF_F32}};
  for (unsigned i = 0; i < 3; ++i) {
    operand.emplace_back(i, (row.staged >> i & 1) != 0, (row.odd >> i & 1) != 0);
    geometry.steps.push_back(row.steps[i]);
    for (int64_t &step : geometry.steps.back()) step *= 4;
  }
  GuardedFloats result(2, (row.staged >> 2 & 1) != 0, (row.odd >> 2 & 1) != 0);
  for (auto &one : operand) geometry.addresses.push_back(one.origin());
  guf_launch_block block = make_block(geometry);
  for (int i = 0; i < 3; ++i) {
    if ((row.staged >> i & 1) != 0) block.operand_flags[i] |= GUF_LAUNCH_OPERAND_SWAPPED;
    if ((row.odd >> i & 1) != 0) block.operand_flags[i] |= GUF_LAUNCH_OPERAND_UNALIGNED;
  }
  if (row.staged != 0 || row.odd != 0) block.flags |= GUF_LAUNCH_SWAPPED;

  std::vector<char> mask(block.items);
  std::mt19937 random(9);
  int left = 0;
  for (char &bit : mask) {  // runs of zeros alternate with runs of ones
    if (left-- == 0) left = static_cast<int>(random() % 40);
    bit = left % 3 != 0 && random() % 16 != 0 ? 1 : 0;
  }
  if (row.masked) {
    block.flags |= GUF_LAUNCH_MASKED;
    block.mask = reinterpret_cast<uint64_t>(mask.data());
    int64_t step = 1;
    for (size_t d = 0; d < row.sizes.size(); step *= row.sizes[d++]) block.mask_step[d] = step;
  }

  for (uint64_t item = 0; item < block.items; ++item) {
    if (row.masked && mask[item] == 0) continue;
    int64_t at[3] = {};
    uint64_t rest = item;
    for (size_t d = 0; d < row.sizes.size(); ++d) {
      const auto index = static_cast<int64_t>(rest % static_cast<uint64_t>(row.sizes[d]));
      rest /= static_cast<uint64_t>(row.sizes[d]);
      for (size_t i = 0; i < 3; ++i) at[i] += index * row.steps[i][d];
    }
    result.put(at[2], operand[0].get(at[0]) + operand[1].get(at[1]));
  }

  guf_error error = fresh_error();
  ASSERT_EQ(launch_block(block, as_entry(add_f32), &error), GUF_OK) << error.message;
  EXPECT_TRUE(operand[2] == result);
}

void add_four(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += *reinterpret_cast<float *>(args[k] + i * steps[k]);
    *reinterpret_cast<float *>(args[4] + i * steps[4]) = sum;
  }
}

// The loop adds four inputs and overwrites input 0, whose columns are contiguous. If most operands
// have contiguous rows, the launch transposes input 0 in scratch memory. Otherwise the launch
// exchanges the two loop dimensions.
TEST_F(Launch, TransposesOneViewInAndOut) {
  constexpr int64_t kHeight = 130, kWidth = 70;
  for (const size_t others : {0, 1, 3}) {  // number of other inputs with contiguous columns
    std::vector<GuardedFloats> x;
    BlockRow geometry{4, {kWidth, kHeight}, {}, {}, std::vector<guf_dtype>(5, GUF_F32)};
    for (unsigned i = 0; i < 4; ++i) x.emplace_back(i, false, false);
    for (size_t i = 0; i < 5; ++i) {
      const bool across = i == 0 || i == 4 || i <= others;
      geometry.steps.push_back(across ? std::vector<int64_t>{4 * kHeight, 4}
                                      : std::vector<int64_t>{4, 4 * kWidth});
      geometry.addresses.push_back(x[i % 4].origin());
    }
    GuardedFloats expected = x[0];
    for (int64_t r = 0; r < kHeight; ++r) {
      for (int64_t c = 0; c < kWidth; ++c) {
        float sum = 0;
        for (size_t k = 0; k < 4; ++k) {
          const auto &step = geometry.steps[k];
          sum += x[k].get((c * step[0] + r * step[1]) / 4);
        }
        expected.put(c * kHeight + r, sum);
      }
    }
    guf_error error = fresh_error();
    const guf_launch_block block = make_block(geometry);
    ASSERT_EQ(launch_block(block, as_entry(add_four), &error), GUF_OK) << error.message;
    EXPECT_TRUE(x[0] == expected) << others;
  }
}

// The loop fails in row 20. The launch has written the results of all earlier rows, and leaves the
// values of later rows unchanged.
TEST_F(Launch, TilesThatFailLeaveTheRowsBefore) {
  constexpr int64_t kHeight = 60, kWidth = 40, kBad = 20;
  GuardedFloats x(0, false, false), y(1, false, false), out(2, false, false);
  y.put(kBad * kWidth, -1);
  GuardedFloats expected = out;
  for (int64_t r = 0; r < kBad; ++r) {
    for (int64_t c = 0; c < kWidth; ++c) {
      expected.put(c * kHeight + r, x.get(r * kWidth + c) + y.get(r * kWidth + c));
    }
  }
  BlockRow geometry{2, {kWidth, kHeight}, {}, {}, {GUF_F32, GUF_F32, GUF_F32}, GUF_LAUNCH_STATUS};
  geometry.steps = {{4, 4 * kWidth}, {4, 4 * kWidth}, {4 * kHeight, 4}};
  geometry.addresses = {x.origin(), y.origin(), out.origin()};
  guf_error error = fresh_error();
  EXPECT_EQ(launch_block(make_block(geometry), as_entry(checked_add_f32), &error), GUF_E_VALUE);
  EXPECT_TRUE(out == expected);
}

INSTANTIATE_TEST_SUITE_P(Rows, Launch, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

// Computes dot products. The signature is (n),(n)->(), and core dimensions can have any stride.
void dot_f32(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < dims[1]; ++k) {
      sum += *reinterpret_cast<const float *>(args[0] + i * steps[0] + k * steps[3]) *
             *reinterpret_cast<const float *>(args[1] + i * steps[1] + k * steps[4]);
    }
    *reinterpret_cast<float *>(args[2] + i * steps[2]) = sum;
  }
}

class CoreLaunch : public testing::TestWithParam<int64_t> {};

TEST_P(CoreLaunch, StagesWholeCoreItems) {
  const int64_t n = GetParam(), items = 50;
  std::vector<float> a(static_cast<size_t>(n * items + 1)), b(static_cast<size_t>(2 * n + 1));
  std::vector<float> out(static_cast<size_t>(items));
  for (size_t i = 0; i < a.size(); ++i) a[i] = swapped(static_cast<float>(i % 17));
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5);
  BlockRow row{2,
               {items},
               {a.data(), b.data(), out.data()},
               {{4 * n}, {0}, {4}},
               {GUF_F32, GUF_F32, GUF_F32}};
  guf_launch_block block = make_block(row);
  block.flags |= GUF_LAUNCH_GENERALIZED | GUF_LAUNCH_SWAPPED;
  block.operand_flags[0] |= GUF_LAUNCH_OPERAND_SWAPPED;
  block.operand_flags[1] |= GUF_LAUNCH_OPERAND_UNALIGNED;
  block.ncore = 1;
  block.ncorestrides = 2;
  block.size[1] = n;
  block.core_ndim[0] = block.core_ndim[1] = 1;
  block.step[3] = 4;
  block.step[4] = 8;  // every second element
  guf_error error = fresh_error();
  ASSERT_EQ(launch_block(block, as_entry(dot_f32), &error), GUF_OK) << error.message;
  for (int64_t i = 0; i < items; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      sum += static_cast<float>((i * n + k) % 17) * static_cast<float>(2 * k % 5);
    }
    ASSERT_EQ(out[static_cast<size_t>(i)], sum) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, CoreLaunch, testing::Values(0, 1, 3, 100, 5000, 100000));

TEST(LaunchFailure, ScratchThatCannotBeHadIsNoMemory) {
  std::vector<float> a(100000), out(1);
  BlockRow row{
      2, {1}, {a.data(), a.data(), out.data()}, {{0}, {0}, {4}}, {GUF_F32, GUF_F32, GUF_F32}};
  guf_launch_block block = make_block(row);
  block.flags |= GUF_LAUNCH_GENERALIZED | GUF_LAUNCH_SWAPPED;
  block.operand_flags[0] |= GUF_LAUNCH_OPERAND_SWAPPED;
  block.ncore = 1;
  block.ncorestrides = 2;
  block.size[1] = 100000;
  block.core_ndim[0] = block.core_ndim[1] = 1;
  block.step[3] = block.step[4] = 4;
  guf_error error = fresh_error();
  cpu_device();
  test_host().alloc_fails = true;
  EXPECT_EQ(launch_block(block, as_entry(dot_f32), &error), GUF_E_NO_MEMORY);
  test_host().alloc_fails = false;
  EXPECT_NE(error.message[0], '\0');
}

TEST(LaunchFailure, StopsAndReportsTheLoopsText) {
  std::vector<float> a(200000, 1), b(200000, 2), out(200000, 0);
  BlockRow row{2,
               {200000},
               {a.data(), b.data(), out.data()},
               {{4}, {4}, {4}},
               {GUF_F32, GUF_F32, GUF_F32},
               GUF_LAUNCH_ANY_THREAD | GUF_LAUNCH_STATUS};
  const guf_launch_block block = make_block(row);
  guf_error error = fresh_error();
  ASSERT_EQ(launch_block(block, as_entry(checked_add_f32), &error), GUF_OK);
  b[150000] = -1;
  EXPECT_EQ(launch_block(block, as_entry(checked_add_f32), &error, nullptr, nullptr, 0, "No!"),
            GUF_E_VALUE);
  EXPECT_STREQ(error.message, "No!");
  EXPECT_EQ(error.status, GUF_E_VALUE);
}

// Fails at a negative input value, and returns this value as the status. The loop sleeps before it
// returns -1, so that loops on other threads fail earlier.
guf_status late_loop(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const float value = *reinterpret_cast<const float *>(args[0] + i * steps[0]);
    if (value == -1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (value < 0) return static_cast<guf_status>(value);
  }
  return GUF_OK;
}

TEST(LaunchFailure, IsThatOfTheFirstChunk) {
  std::vector<float> a(1 << 20, 1);
  guf_launch_block block = make_block({0, {1 << 20}, {a.data()}, {{4}}, {GUF_F32}});
  block.flags |= GUF_LAUNCH_STATUS;
  a[1000] = -1;
  for (size_t i = 2000; i < a.size(); i += 20000) a[i] = -2;
  for (int i = 0; i < 5; ++i) {
    guf_error error = fresh_error();
    EXPECT_EQ(launch_block(block, as_entry(late_loop), &error), GUF_E_LOOP);
    EXPECT_EQ(error.native_code, -1);
  }
}

TEST(LaunchFailure, RefusesUnknownFlags) {
  guf_launch_block block = make_block({1, {}, {}, {}, {}, 1u << 30});
  guf_error error = fresh_error();
  EXPECT_EQ(launch_block(block, as_entry(add_f32), &error), GUF_E_UNSUPPORTED);
}

struct LoopFailure {
  const char *name;
  guf_status returned, status;
  int32_t native_code;
  const char *text;
};
constexpr LoopFailure kLoopFailures[] = {
    {"OfMemory", GUF_E_NO_MEMORY, GUF_E_NO_MEMORY, 0, "a loop failed with status 1000"},
    {"OfValue", GUF_E_VALUE, GUF_E_VALUE, 0, "Negative."},
    {"LikeATimeout", GUF_TIMEOUT, GUF_E_LOOP, 2, "a loop failed with status 2"},
    {"Negative", -7, GUF_E_LOOP, -7, "a loop failed with status -7"},
    {"Lowest", INT32_MIN, GUF_E_LOOP, INT32_MIN, "a loop failed with status -2147483648"},
    {"Unknown", 999, GUF_E_LOOP, 999, "a loop failed with status 999"},
};

guf_status returning_loop(char **, const int64_t *, const int64_t *, void *user) {
  return static_cast<const LoopFailure *>(user)->returned;
}

class LoopStatus : public testing::TestWithParam<LoopFailure> {};

// Runs the loop directly, staged, on several threads, and on a stream. At the start, the error
// record contains another failure.
TEST_P(LoopStatus, IsAnErrorWithItsOwnRecord) {
  LoopFailure row = GetParam();
  std::vector<float> out(1 << 20);
  for (const int64_t items : {int64_t{1}, int64_t{1} << 20}) {
    for (const bool staged : {false, true}) {
      for (const bool queued : {false, true}) {
        BlockRow geometry{0, {items}, {out.data()}, {{4}}, {GUF_F32}};
        guf_launch_block block = make_block(geometry);
        block.flags |= GUF_LAUNCH_STATUS;
        if (staged) block.flags |= GUF_LAUNCH_SWAPPED;
        if (staged) block.operand_flags[0] |= GUF_LAUNCH_OPERAND_SWAPPED;
        guf_error error = fresh_error();
        error.status = GUF_E_SHAPE;
        void *stream = nullptr;
        if (queued) {
          ASSERT_EQ(cpu().stream_open(cpu_device(), 0, 0, &stream, &error), GUF_OK);
        }
        guf_status status =
            launch_block(block, as_entry(returning_loop), &error, stream, &row, 0, "Negative.");
        if (queued) {
          EXPECT_EQ(status, GUF_OK);
          status = cpu().stream_synchronize(stream, UINT64_MAX, &error);
          cpu().stream_close(stream);
        }
        EXPECT_EQ(status, row.status);
        EXPECT_EQ(error.status, row.status);
        EXPECT_EQ(error.native_code, row.native_code);
        const std::string expected =
            std::string(row.text) + (queued ? "; launch 1 of the stream" : "");
        EXPECT_EQ(error.message, expected);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, LoopStatus, testing::ValuesIn(kLoopFailures),
                         [](const auto &row) { return row.param.name; });

}  // namespace
}  // namespace gufunc::cpu
