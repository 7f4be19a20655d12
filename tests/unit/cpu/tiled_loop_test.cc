// SPDX-License-Identifier: Apache-2.0
// Compares tiled launches with a loop that runs item by item: every element size, mixed sizes, two
// outputs, numbers of threads, floating-point flags, masks, and an exhausted heap. Also transposes
// blocks of every element size. A block consists of squares that the fast path handles and of
// remaining rows and columns.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cpu/loops/tiled_loop.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

class Transpose : public testing::TestWithParam<uint32_t> {};

TEST_P(Transpose, TransposesBlocks) {
  const int64_t size = GetParam();
  for (const int64_t lines : {1, 2, 3, 4, 7, 8, 16, 17, 33}) {
    for (const int64_t length : {1, 2, 3, 4, 7, 8, 16, 17, 31}) {
      const int64_t from_step = length * size + 3, to_step = lines * size + 5;
      std::vector<char> from(static_cast<size_t>(lines * from_step));
      for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 256);
      std::vector<char> to(static_cast<size_t>(length * to_step), 1), expected = to;
      for (int64_t i = 0; i < lines; ++i) {
        for (int64_t j = 0; j < length; ++j) {
          std::memcpy(expected.data() + j * to_step + i * size,
                      from.data() + i * from_step + j * size, GetParam());
        }
      }
      transpose(to.data(), to_step, from.data(), from_step, lines, length, GetParam());
      EXPECT_EQ(to, expected) << lines << " lines of " << length;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, Transpose, testing::Values(1, 2, 4, 8, 16));

constexpr uint32_t kThreads[] = {1, 2, 3, 7};

// A loop with any number of inputs and outputs of any element size. Byte k of an output combines
// one byte of each input. The loop counts its calls, and also the calls in which all transposed
// operands are contiguous.
struct Mix {
  int nin = 0;
  uint32_t widest = 0;
  std::vector<uint32_t> size;
  std::vector<bool> transposed;
  std::atomic<int> calls{0}, tiled{0};

  int count() const { return static_cast<int>(size.size()); }

  template <class At>
  void item(const At &at) const {
    unsigned char seen[16] = {};
    for (int i = 0; i < nin; ++i) {
      const char *const from = at(i);
      const uint32_t last = size[static_cast<size_t>(i)] - 1;  // sizes are powers of two
      for (uint32_t k = 0; k < widest; ++k) {
        seen[k] = static_cast<unsigned char>(seen[k] * 3 + from[k & last] + static_cast<int>(k));
      }
    }
    for (int o = nin; o < count(); ++o) {
      char *const to = at(o);
      for (uint32_t k = 0; k < size[static_cast<size_t>(o)]; ++k) {
        to[k] = static_cast<char>(seen[k] ^ o);
      }
    }
  }

  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Mix *>(user);
    bool tiled = true;
    for (size_t i = 0; i < self.size.size(); ++i) {
      tiled &= !self.transposed[i] || steps[i] == self.size[i];
    }
    self.calls.fetch_add(1, std::memory_order_relaxed);
    if (tiled) self.tiled.fetch_add(1, std::memory_order_relaxed);
    for (int64_t n = 0; n < dims[0]; ++n) {
      self.item([&](int i) { return args[i] + n * steps[i]; });
    }
  }
};

guf_dtype dtype_of(uint32_t size) {
  switch (size) {
    case 1:
      return GUF_U8;
    case 2:
      return GUF_F16;
    case 4:
      return GUF_I32;
    case 8:
      return GUF_F64;
    default:
      return GUF_C128;
  }
}

struct TileOperand {
  uint32_t size;
  bool across;    // true if the columns are contiguous, false if the rows are contiguous
  int same = -1;  // index of the operand whose memory this operand uses, or -1
};

struct Row {
  const char *name;
  int nin;
  std::vector<TileOperand> operands;
  bool by_columns = false;  // the launch transposes the operands with contiguous rows
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    {"Byte", 2, {{1, true}, {1, false}, {1, false}}},
    {"ByteOut", 2, {{1, false}, {1, true}, {1, true}}},
    {"Half", 2, {{2, true}, {2, false}, {2, false}}},
    {"HalfOut", 2, {{2, false}, {2, false}, {2, true}}},
    {"Word", 2, {{4, true}, {4, false}, {4, true}}},
    {"Double", 2, {{8, true}, {8, true}, {8, false}}},
    {"DoubleOut", 1, {{8, false}, {8, true}}},
    {"Complex", 2, {{16, true}, {16, false}, {16, false}}},
    {"ComplexOut", 2, {{16, false}, {16, false}, {16, true}}},
    {"TwoOutputs", 2, {{4, false}, {4, false}, {4, true}, {4, true}}},
    {"TwoOutputsOneAcross", 1, {{8, false}, {8, true}, {8, false}}},
    {"TwoOutputsByColumns", 2, {{4, true}, {4, false}, {4, true}, {4, true}}, true},
    {"MixedIn", 2, {{1, true}, {8, false}, {2, false}}},
    {"MixedOut", 2, {{2, false}, {16, false}, {1, true}, {4, false}}},
    {"MixedBoth", 2, {{16, true}, {2, false}, {4, false}, {1, true}}},
    {"MixedByColumns", 3, {{1, true}, {2, true}, {8, true}, {4, false}}, true},
    {"InPlaceByte", 2, {{1, true}, {1, false}, {1, true, 0}}},
    {"InPlaceHalf", 2, {{2, true}, {2, false}, {2, true, 0}}},
    {"InPlaceComplex", 2, {{16, true}, {16, false}, {16, true, 0}}},
    {"InPlaceMixed", 2, {{4, true}, {1, false}, {4, true, 0}}},
};

// Allocates the operands that a table row describes, with guard bytes around each operand, and
// builds the launch.
class TileMemory {
 public:
  TileMemory(const Row &row, int64_t width, int64_t height)
      : row_(row), width_(width), height_(height), memory_(row.operands.size()) {
    for (size_t i = 0; i < memory_.size(); ++i) {
      const TileOperand &op = row.operands[i];
      step_.push_back(op.across ? std::vector<int64_t>{height * op.size, op.size}
                                : std::vector<int64_t>{op.size, width * op.size});
      if (op.same >= 0) continue;
      memory_[i].resize(static_cast<size_t>(width * height) * op.size + 2 * kGuard);
      for (size_t k = 0; k < memory_[i].size(); ++k) {
        memory_[i][k] = static_cast<char>(k * 2654435761u >> (11 + i));
      }
    }
  }

  char *origin(size_t i) {
    const int same = row_.operands[i].same;
    return memory_[same < 0 ? i : static_cast<size_t>(same)].data() + kGuard;
  }

  guf_launch_block block() {
    BlockRow geometry{row_.nin, {width_, height_}, {}, {}, {}};
    for (size_t i = 0; i < row_.operands.size(); ++i) {
      geometry.addresses.push_back(origin(i));
      geometry.steps.push_back(step_[i]);
      geometry.dtypes.push_back(dtype_of(row_.operands[i].size));
    }
    return make_block(geometry);
  }

  void prepare(Mix *mix) const {
    mix->nin = row_.nin;
    for (const TileOperand &op : row_.operands) {
      mix->size.push_back(op.size);
      mix->widest = std::max(mix->widest, op.size);
      mix->transposed.push_back(op.across != row_.by_columns);
    }
  }

  // Computes the expected output item by item, for the items that `mask` selects.
  void compute(const Mix &mix, const char *mask = nullptr) {
    for (int64_t r = 0; r < height_; ++r) {
      for (int64_t c = 0; c < width_; ++c) {
        if (mask != nullptr && mask[r * width_ + c] == 0) continue;
        mix.item([&](int i) {
          const auto n = static_cast<size_t>(i);
          return origin(n) + c * step_[n][0] + r * step_[n][1];
        });
      }
    }
  }

  bool operator==(const TileMemory &other) const { return memory_ == other.memory_; }

 private:
  static constexpr size_t kGuard = 64;

  const Row &row_;
  int64_t width_, height_;
  std::vector<std::vector<int64_t>> step_;
  std::vector<std::vector<char>> memory_;
};

class Tiles : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() { grant("7"); }
  static void TearDownTestSuite() { grant("3"); }

 private:
  static void grant(const char *threads) {
    guf_error error = fresh_error();
    test_host().config["GUFUNC_NUM_THREADS"] = threads;
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // clears the cached thread count
  }
};

void expect_tiles(const Row &row, int64_t width, int64_t height) {
  SCOPED_TRACE(testing::Message() << width << " x " << height);
  TileMemory expected(row, width, height);
  Mix reference;
  expected.prepare(&reference);
  expected.compute(reference);
  for (const uint32_t threads : kThreads) {
    TileMemory operands(row, width, height);
    Mix mix;
    operands.prepare(&mix);
    guf_error error = fresh_error();
    ASSERT_EQ(launch_block(operands.block(), as_entry(Mix::loop), &error, nullptr, &mix, threads),
              GUF_OK)
        << error.message;
    EXPECT_TRUE(operands == expected) << threads << " threads";
    EXPECT_GT(mix.calls, 0);
    EXPECT_EQ(mix.tiled, mix.calls) << threads << " threads";
  }
}

TEST_P(Tiles, EqualTheReferenceItemByItem) {
  expect_tiles(GetParam(), 70, 131);
  expect_tiles(GetParam(), 661, 200);   // several threads, and long rows in scratch memory
  expect_tiles(GetParam(), 1030, 130);  // longer rows than the previous launch
}

// Host memory is exhausted, so only stack memory is available.
TEST_P(Tiles, NeedNoHeap) {
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // also frees cached memory
  test_host().alloc_fails = true;
  expect_tiles(GetParam(), 661, 200);
  test_host().alloc_fails = false;
}

// The first launches allocate memory for their threads. Later launches allocate nothing.
TEST_F(Tiles, AllocateNothingWhenHot) {
  const Row row = {"TwoOutputs", 1, {{4, false}, {4, true}, {4, true}}};
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);
  const uint64_t cold = test_host().allocations;
  expect_tiles(row, 661, 200);
  const uint64_t warm = test_host().allocations;
  EXPECT_GT(warm, cold);
  for (int i = 0; i < 3; ++i) {
    TileMemory operands(row, 661, 200);
    Mix mix;
    operands.prepare(&mix);
    ASSERT_EQ(launch_block(operands.block(), as_entry(Mix::loop), &error, nullptr, &mix, 1),
              GUF_OK);
  }
  EXPECT_EQ(test_host().allocations, warm);
  const uint64_t live = test_host().live;
  ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);
  EXPECT_EQ(test_host().live, live - (warm - cold)) << "shutdown frees it";
}

// Masked launches run row by row, even if operands are transposed.
TEST_P(Tiles, MaskedItemsAreUnchanged) {
  constexpr int64_t kWidth = 661, kHeight = 200;
  std::vector<char> mask(kWidth * kHeight);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = i * 2654435761u >> 13 & 3 ? 1 : 0;
  TileMemory expected(GetParam(), kWidth, kHeight);
  Mix reference;
  expected.prepare(&reference);
  expected.compute(reference, mask.data());
  for (const uint32_t threads : kThreads) {
    TileMemory operands(GetParam(), kWidth, kHeight);
    Mix mix;
    operands.prepare(&mix);
    guf_launch_block block = operands.block();
    block.flags |= GUF_LAUNCH_MASKED;
    block.mask = reinterpret_cast<uint64_t>(mask.data());
    block.mask_step[0] = 1;
    block.mask_step[1] = kWidth;
    guf_error error = fresh_error();
    ASSERT_EQ(launch_block(block, as_entry(Mix::loop), &error, nullptr, &mix, threads), GUF_OK);
    EXPECT_TRUE(operands == expected) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Tiles, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

// Divides. Counts the calls in which the output is transposed.
void divide_f32(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  if (steps[2] == 4) static_cast<std::atomic<int> *>(user)->fetch_add(1);
  for (int64_t i = 0; i < dims[0]; ++i) {
    *reinterpret_cast<float *>(args[2] + i * steps[2]) =
        *reinterpret_cast<const float *>(args[0] + i * steps[0]) /
        *reinterpret_cast<const float *>(args[1] + i * steps[1]);
  }
}

// Computes x / y for arrays of 661 columns and 200 rows. The memory layouts of y and of the result
// are transposed relative to x.
class WatchedTiles : public Tiles {
 protected:
  static constexpr int64_t kWidth = 661, kHeight = 200;

  void put(int64_t row, int64_t column, float x, float y) {
    x_[static_cast<size_t>(row * kWidth + column)] = x;
    y_[static_cast<size_t>(column * kHeight + row)] = y;
  }
  float result(int64_t row, int64_t column) const {
    return out_[static_cast<size_t>(column * kHeight + row)];
  }
  uint32_t fp_flags(uint32_t threads, guf_status expected = GUF_OK, uint32_t fail = 0) {
    const guf_launch_block block =
        make_block({2,
                    {kWidth, kHeight},
                    {x_.data(), y_.data(), out_.data()},
                    {{4, 4 * kWidth}, {4 * kHeight, 4}, {4 * kHeight, 4}},
                    {GUF_F32, GUF_F32, GUF_F32}});
    std::atomic<int> tiled{0};
    uint32_t fp_flags = 0;
    const uint32_t all = GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_UNDERFLOW | GUF_FP_INVALID;
    const guf_fp_status fp_status = {"quotient", 0, all, fail, 0, &fp_flags};
    const guf_backend_launch launch = {sizeof(guf_backend_launch),
                                       threads,
                                       reinterpret_cast<void *>(as_entry(divide_f32)),
                                       nullptr,
                                       &tiled,
                                       &block,
                                       nullptr,
                                       &fp_status};
    guf_error error = fresh_error();
    EXPECT_EQ(cpu().launch(cpu_device(), &launch, &error), expected) << error.message;
    EXPECT_GE(tiled, kHeight);
    return fp_flags;
  }

  std::vector<float> x_ = std::vector<float>(kWidth * kHeight, 1);
  std::vector<float> y_ = std::vector<float>(kWidth * kHeight, 2);
  std::vector<float> out_ = std::vector<float>(kWidth * kHeight, std::nanf(""));
};

// The elements that raise flags are the first item, an item in the middle, and the last item, whose
// tile has fewer rows than the other tiles.
TEST_F(WatchedTiles, ReportFpFlagsOfAllElements) {
  const float most = std::numeric_limits<float>::max(), infinity = HUGE_VALF;
  for (const uint32_t threads : kThreads) {
    SCOPED_TRACE(threads);
    EXPECT_EQ(fp_flags(threads), 0u);
    for (const auto &[row, column] : {std::pair<int64_t, int64_t>{0, 0}, {100, 300}, {199, 660}}) {
      put(row, column, 1, 0);
      EXPECT_EQ(fp_flags(threads), uint32_t{GUF_FP_DIVIDE});
      EXPECT_EQ(result(row, column), infinity);
      put(row, column, 0, 0);
      EXPECT_EQ(fp_flags(threads), uint32_t{GUF_FP_INVALID});
      put(row, column, most, 0.5f);
      EXPECT_EQ(fp_flags(threads), uint32_t{GUF_FP_OVERFLOW});
      put(row, column, infinity, 0.5f);
      EXPECT_EQ(fp_flags(threads), 0u) << "nothing new";
      put(row, column, 1, 2);
    }
    put(3, 5, 1, 0);
    put(150, 600, 0, 0);
    EXPECT_EQ(fp_flags(threads), uint32_t{GUF_FP_DIVIDE | GUF_FP_INVALID});
    put(3, 5, 1, 2);
    put(150, 600, 1, 2);
  }
}

TEST_F(WatchedTiles, FailWithTheirResultsWritten) {
  put(120, 44, 1, 0);
  for (const uint32_t threads : kThreads) {
    std::fill(out_.begin(), out_.end(), 7.0f);
    fp_flags(threads, GUF_E_FLOATING_POINT, GUF_FP_DIVIDE);
    EXPECT_EQ(std::count(out_.begin(), out_.end(), 0.5f), kWidth * kHeight - 1);
    EXPECT_EQ(result(120, 44), HUGE_VALF);
  }
}

}  // namespace

}  // namespace gufunc::cpu
