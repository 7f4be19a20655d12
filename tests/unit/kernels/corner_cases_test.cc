// SPDX-License-Identifier: Apache-2.0
// Tests that the standard library's loops return NumPy's results in special cases, at every ISA
// level that this machine supports.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/kernels/kernel_call.h"

namespace gufunc::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMin64 = -0x1p63, kMin32 = -0x1p31;

struct Row {
  const char *name;
  const char *function;
  const char *types;
  std::vector<double> inputs;  // one number per input: the real part for complex types
  double output;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
    // Integers.
    {"AddWraps", "add", "bb->b", {127, 1}, -128},
    {"AddOfBoolIsOr", "add", "?\?->?", {1, 1}, 1},
    {"MultiplyU16Wraps", "multiply", "HH->H", {65535, 65535}, 1},
    {"SubtractUnsignedWraps", "subtract", "II->I", {0, 1}, 4294967295.0},
    {"NegativeOfLeast", "negative", "i->i", {kMin32}, kMin32},
    {"AbsoluteOfLeast", "absolute", "q->q", {kMin64}, kMin64},
    {"FloorDivideByZero", "floor_divide", "ii->i", {7, 0}, 0},
    {"FloorDivideUnsignedByZero", "floor_divide", "BB->B", {7, 0}, 0},
    {"FloorDivideLeastByMinusOne", "floor_divide", "ii->i", {kMin32, -1}, kMin32},
    {"FloorDivideLeastByMinusOne8", "floor_divide", "bb->b", {-128, -1}, -128},
    {"FloorDivideRoundsDown", "floor_divide", "qq->q", {-7, 2}, -4},
    {"FloorDivideExact", "floor_divide", "hh->h", {-8, 2}, -4},
    {"RemainderHasDivisorsSign", "remainder", "ii->i", {-7, 3}, 2},
    {"RemainderNegativeDivisor", "remainder", "ii->i", {7, -3}, -2},
    {"RemainderByZero", "remainder", "qq->q", {7, 0}, 0},
    {"RemainderLeastByMinusOne", "remainder", "qq->q", {kMin64, -1}, 0},
    {"ReciprocalOfZero32", "reciprocal", "i->i", {0}, kMin32},
    {"ReciprocalOfZero64", "reciprocal", "q->q", {0}, kMin64},
    {"ReciprocalOfZero16", "reciprocal", "h->h", {0}, 0},
    {"ReciprocalOfZeroUnsigned", "reciprocal", "I->I", {0}, 0},
    {"ReciprocalOfMinusOne", "reciprocal", "i->i", {-1}, -1},
    {"ReciprocalOfTwo", "reciprocal", "i->i", {2}, 0},
    {"SignOfNegative", "sign", "b->b", {-5}, -1},
    {"PowerWraps", "power", "BB->B", {3, 6}, 217},
    {"PowerZeroZero", "power", "ii->i", {0, 0}, 1},
    {"LessMixedNegative", "less", "qQ->?", {-1, 0}, 1},
    {"EqualMixedNegative", "equal", "qQ->?", {-1, 0x1p64}, 0},
    {"GreaterMixed", "greater", "Qq->?", {0x1p63, 5}, 1},
    {"InvertOfBool", "invert", "?->?", {1}, 0},
    {"InvertOfByte", "invert", "B->B", {0}, 255},
    {"LeftShiftOfLastBit", "left_shift", "bb->b", {1, 7}, -128},
    {"LeftShiftOfWidth", "left_shift", "bb->b", {1, 8}, 0},
    {"LeftShiftOfWidth64", "left_shift", "QQ->Q", {1, 64}, 0},
    {"LeftShiftOfNegative", "left_shift", "ii->i", {1, -1}, 0},
    {"RightShiftKeepsSign", "right_shift", "hh->h", {-4, 1}, -2},
    {"RightShiftOfWidth", "right_shift", "ii->i", {-4, 32}, -1},
    {"RightShiftOfNegative64", "right_shift", "qq->q", {kMin64, -1}, -1},
    {"RightShiftOfWidthUnsigned", "right_shift", "II->I", {4294967295.0, 32}, 0},
    // Floating-point numbers.
    {"FloorDivideByFloatZero", "floor_divide", "dd->d", {1, 0}, kInf},
    {"FloorDivideOfInf", "floor_divide", "dd->d", {kInf, 1}, kNan},
    {"FloorDivideKeepsMinusZero", "floor_divide", "dd->d", {-0.0, 1}, -0.0},
    {"RemainderZeroHasDivisorsSign", "remainder", "dd->d", {3, -3}, -0.0},
    {"RemainderByInf", "remainder", "dd->d", {-1, kInf}, kInf},
    {"RemainderByFloatZero", "remainder", "ff->f", {1, 0}, kNan},
    {"SignOfNan", "sign", "f->f", {kNan}, kNan},
    {"SignOfMinusZero", "sign", "d->d", {-0.0}, 0.0},
    {"MaximumPropagatesNan", "maximum", "dd->d", {1, kNan}, kNan},
    {"MinimumPropagatesFirstNan", "minimum", "ff->f", {kNan, 1}, kNan},
    {"FmaxIgnoresNan", "fmax", "dd->d", {kNan, -kInf}, -kInf},
    {"FminOfNans", "fmin", "ff->f", {kNan, kNan}, kNan},
    {"EqualOfNan", "equal", "dd->?", {kNan, kNan}, 0},
    {"NotEqualOfNan", "not_equal", "dd->?", {kNan, kNan}, 1},
    {"NanIsTrue", "logical_and", "ff->?", {kNan, 1}, 1},
    {"LogicalNotOfMinusZero", "logical_not", "d->?", {-0.0}, 1},
    {"LogOfZero", "log", "d->d", {0}, -kInf},
    {"LogOfNegative", "log", "f->f", {-1}, kNan},
    {"ExpOverflows", "exp", "f->f", {200}, kInf},
    {"SqrtOfMinusZero", "sqrt", "d->d", {-0.0}, -0.0},
    {"PowerOneOfNan", "power", "dd->d", {1, kNan}, 1},
    {"PowerZeroOfNegative", "power", "dd->d", {-0.0, -3}, -kInf},
    // Half precision, which is computed in f32 and rounded once.
    {"HalfOverflows", "add", "ee->e", {65504, 16}, kInf},
    {"HalfStaysFinite", "add", "ee->e", {65504, 8}, 65504},
    {"HalfTiesToEven", "add", "ee->e", {2048, 1}, 2048},
    {"HalfKeepsSubnormals", "multiply", "ee->e", {0x1p-14, 0x1p-10}, 0x1p-24},
    {"BfloatTiesToEven", "add", "EE->E", {256, 1}, 256},
    {"BfloatRoundsUp", "add", "EE->E", {256, 3}, 260},
    // Complex numbers whose imaginary part is 0.
    {"ComplexMaximumOrdersByReal", "maximum", "DD->D", {2, 1}, 2},
    {"ComplexSignIsUnit", "sign", "D->D", {-3}, -1},
    {"ComplexSqrtOfNegative", "sqrt", "F->F", {-1}, 0},
    {"ComplexAbsolute", "absolute", "F->f", {-3}, 3},
};

class CornerCase : public testing::TestWithParam<Row> {};

TEST_P(CornerCase, IsNumPys) {
  const Row &row = GetParam();
  for (const KernelImage &image : runnable_images()) {
    const Kernel kernel = find_kernel(image, row.function, row.types);
    // Tests one item, and enough items for the vector loop and its remainder.
    for (const int64_t count : {1, 37}) {
      std::vector<double> out;
      ASSERT_EQ(call_kernel(kernel, row.inputs, count, &out), GUF_OK);
      for (const double value : out) {
        if (std::isnan(row.output)) {
          EXPECT_TRUE(std::isnan(value)) << image.target << " returns " << value;
        } else {
          EXPECT_EQ(value, row.output) << image.target;
          EXPECT_EQ(std::signbit(value), std::signbit(row.output)) << image.target;
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, CornerCase, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(NegativePower, FailsWithNumPysText) {
  for (const KernelImage &image : runnable_images()) {
    for (const char *types : {"bb->b", "hh->h", "ii->i", "qq->q"}) {
      const Kernel kernel = find_kernel(image, "power", types);
      EXPECT_EQ(kernel.kind, GUF_LOOP_STATUS) << types;
      std::vector<double> out;
      EXPECT_EQ(call_kernel(kernel, {2, -1}, 5, &out), GUF_E_VALUE) << types;
      EXPECT_EQ(call_kernel(kernel, {2, 3}, 5, &out), GUF_OK) << types;
      EXPECT_STREQ(kernel.failure, "Integers to negative integer powers are not allowed.");
    }
    std::vector<double> out;
    EXPECT_EQ(find_kernel(image, "power", "dd->d").kind, GUF_LOOP_NUMPY);
    EXPECT_EQ(call_kernel(find_kernel(image, "power", "dd->d"), {2, -1}, 1, &out), GUF_OK);
    EXPECT_EQ(out[0], 0.5);
  }
}

TEST(Casts, SaturateAndRoundOnce) {
  struct Cast {
    const char *types;
    double from, to;
  };
  const Cast casts[] = {{"d->b", 300, 127},
                        {"d->B", -5, 0},
                        {"f->i", 3e9, 2147483647},
                        {"f->i", kNan, 0},
                        {"d->q", -kInf, kMin64},
                        {"d->Q", 1e30, 0x1p64},
                        {"d->?", kNan, 1},
                        {"D->f", 2.5, 2.5},
                        {"i->b", 300, 44},
                        {"d->e", 65520, kInf},
                        {"d->e", 65519, 65504},
                        {"q->f", 16777217, 16777216},
                        {"d->e", 0x1.002p0 + 0x1p-40, 0x1.004p0},
                        {"h->D", -7, -7},
                        {"e->E", 2049, 2048},
                        {"?->d", 1, 1},
                        {"E->q", -3, -3}};
  for (const Cast &cast : casts) {
    const BlockRow geometry = {1, {1}, {}, {}, {}};
    Element from = encode(dtype_of(cast.types[0]), cast.from), to = {};
    BlockRow row = geometry;
    row.addresses = {from.bytes, to.bytes};
    row.steps = {{16}, {16}};
    row.dtypes = {dtype_of(cast.types[0]), dtype_of(cast.types[3])};
    const guf_launch_block block = make_block(row);
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().convert(cpu_device(), nullptr, &block, &error), GUF_OK) << error.message;
    EXPECT_EQ(decode(row.dtypes[1], to), cast.to) << cast.types << " of " << cast.from;
  }
}

TEST(Matmul, SumsOverNothingToZero) {
  for (const KernelImage &image : runnable_images()) {
    double out[6] = {1, 2, 3, 4, 5, 6};
    char *args[3] = {nullptr, nullptr, reinterpret_cast<char *>(out)};
    const int64_t dims[4] = {1, 2, 0, 3}, steps[9] = {0, 0, 0, 0, 8, 24, 8, 24, 8};
    const Kernel kernel = find_kernel(image, "matmul", "dd->d");
    reinterpret_cast<guf_loop_numpy>(kernel.entry)(args, dims, steps, nullptr);
    for (const double value : out) EXPECT_EQ(value, 0);
  }
}

TEST(Matmul, ReturnsTheSameBitsForEveryLayout) {
  constexpr int64_t kHeight = 7, kDepth = 300, kWidth = 45;
  std::vector<float> x(kHeight * kDepth), y(kDepth * kWidth), y_transposed(y.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::cos(static_cast<float>(i));
  for (int64_t k = 0; k < kDepth; ++k) {
    for (int64_t c = 0; c < kWidth; ++c) {
      y_transposed[static_cast<size_t>(c * kDepth + k)] = y[static_cast<size_t>(k * kWidth + c)];
    }
  }
  std::vector<float> first;
  for (const KernelImage &image : runnable_images()) {
    const Kernel kernel = find_kernel(image, "matmul", "ff->f");
    for (const bool transposed : {false, true}) {
      std::vector<float> out(kHeight * kWidth);
      char *args[3] = {reinterpret_cast<char *>(x.data()),
                       reinterpret_cast<char *>(transposed ? y_transposed.data() : y.data()),
                       reinterpret_cast<char *>(out.data())};
      const int64_t dims[4] = {1, kHeight, kDepth, kWidth};
      const int64_t steps[9] = {
          0,          0, 0, 4 * kDepth, 4, transposed ? 4 : 4 * kWidth, transposed ? 4 * kDepth : 4,
          4 * kWidth, 4};
      reinterpret_cast<guf_loop_numpy>(kernel.entry)(args, dims, steps, nullptr);
      if (first.empty()) first = out;
      EXPECT_EQ(std::memcmp(first.data(), out.data(), 4 * out.size()), 0)
          << image.target << " transposed " << transposed;
    }
  }
}

}  // namespace
}  // namespace gufunc::cpu
