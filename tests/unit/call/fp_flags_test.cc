// SPDX-License-Identifier: Apache-2.0
// Tests that calls report the same floating-point flags as NumPy's errstate for the same values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kMin = std::numeric_limits<double>::min();
constexpr uint32_t kAll =
    GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_UNDERFLOW | GUF_FP_INVALID | GUF_FP_INTEGER_DIVIDE;

struct Row {
  const char *ufunc;
  std::vector<double> operands;
  uint32_t fp_flags;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.ufunc << "(" << row.operands[0];
  if (row.operands.size() > 1) *out << ", " << row.operands[1];
  *out << ")";
}

class FpFlags : public testing::TestWithParam<Row> {};

// The element that raises the flag is the last of many elements, so it is in a late block and may
// be processed by another thread.
TEST_P(FpFlags, OfOneElementAmongMany) {
  const Row &row = GetParam();
  const int64_t n = 100000;
  std::vector<std::vector<double>> operands;
  for (const double value : row.operands) {
    operands.emplace_back(n, 1.0);
    operands.back().back() = value;
  }
  std::vector<double> result(n);
  uint32_t fp_flags = 0;
  Call call(row.ufunc);
  for (const auto &operand : operands) call.in(View{GUF_F64, operand.data(), {n}, {}});
  call.out(View{GUF_F64, result.data(), {n}, {}});
  call.args.options.fp_flags = &fp_flags;
  call.args.options.fp_report = kAll;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(fp_flags, row.fp_flags);
  call.args.options.fp_report = 0;
  call.args.options.fp_fail = kAll;
  EXPECT_EQ(call.run(), row.fp_flags == 0 ? GUF_OK : GUF_E_FLOATING_POINT);
  call.args.options.fp_fail = kAll & ~row.fp_flags;
  EXPECT_EQ(call.run(), GUF_OK) << "what is not requested does not fail";
}

const Row kRows[] = {
    {"divide", {1, 0}, GUF_FP_DIVIDE},
    {"divide", {0, 0}, GUF_FP_INVALID},
    {"divide", {kMax, 0.5}, GUF_FP_OVERFLOW},
    {"divide", {kMin, 3}, GUF_FP_UNDERFLOW},
    {"divide", {kInf, 2}, 0},
    {"divide", {1, kInf}, 0},
    {"divide", {kNaN, 0}, 0},
    {"add", {kMax, kMax}, GUF_FP_OVERFLOW},
    {"add", {kInf, -kInf}, GUF_FP_INVALID},
    {"add", {kMin, -kMin * 1.5}, 0},
    {"subtract", {1, 1}, 0},
    {"multiply", {0, kInf}, GUF_FP_INVALID},
    {"multiply", {kMin, 0.3}, GUF_FP_UNDERFLOW},
    {"multiply", {0, 5}, 0},
    {"sqrt", {-1}, GUF_FP_INVALID},
    {"log", {0}, GUF_FP_DIVIDE},
    {"log", {-1}, GUF_FP_INVALID},
    {"exp", {1000}, GUF_FP_OVERFLOW},
    {"exp", {-1000}, GUF_FP_UNDERFLOW},
    {"hypot", {kMin / 4, kMin / 4}, GUF_FP_UNDERFLOW},
    {"hypot", {0, kMin / 4}, 0},
    {"hypot", {1, kMin / 4}, 0},
    {"degrees", {kMin / 128}, GUF_FP_UNDERFLOW},
    {"rad2deg", {kMin / 128}, GUF_FP_UNDERFLOW},
    {"rad2deg", {kMin}, 0},
    {"sin", {kInf}, GUF_FP_INVALID},
    {"reciprocal", {0}, GUF_FP_DIVIDE},
    {"power", {0, -1}, GUF_FP_DIVIDE},
    {"power", {10, 400}, GUF_FP_OVERFLOW},
    {"power", {-1, 0.5}, GUF_FP_INVALID},
    {"remainder", {1, 0}, GUF_FP_INVALID},
    {"floor_divide", {1, 0}, GUF_FP_DIVIDE},
    {"maximum", {kNaN, 1}, 0},
};
INSTANTIATE_TEST_SUITE_P(Rows, FpFlags, testing::ValuesIn(kRows));

TEST(FpFlagsOfCalls, IntegersDividedByZero) {
  const std::vector<int32_t> x(1000, 7);
  std::vector<int32_t> y(1000, 2), result(1000);
  y[300] = 0;
  for (const char *name : {"floor_divide", "remainder"}) {
    uint32_t fp_flags = 0;
    Call call(name);
    call.in(View{GUF_I32, x.data(), {1000}, {}}).in(View{GUF_I32, y.data(), {1000}, {}});
    call.out(View{GUF_I32, result.data(), {1000}, {}});
    call.args.options.fp_flags = &fp_flags;
    call.args.options.fp_report = call.args.options.fp_fail = GUF_FP_INTEGER_DIVIDE;
    EXPECT_EQ(call.run(), GUF_E_FLOATING_POINT);
    EXPECT_EQ(std::string(call.error.message),
              std::string("divide by zero encountered in ") + name);
    EXPECT_EQ(fp_flags, uint32_t{GUF_FP_INTEGER_DIVIDE});
  }
}

TEST(FpFlagsOfCalls, MaskedElementsAndOperandsInPlace) {
  std::vector<float> x = {0, 1, 2, 3};
  const bool mask[] = {false, true, true, true};
  uint32_t fp_flags = 0;
  Call call("reciprocal");
  call.in(View{GUF_F32, x.data(), {4}, {}}).out(View{GUF_F32, x.data(), {4}, {}});
  call.where(View{GUF_BOOL, mask, {4}, {}});
  call.args.options.fp_flags = &fp_flags;
  call.args.options.fp_report = kAll;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(fp_flags, 0U) << "the zero is masked off";
  call.args.where = nullptr;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_DIVIDE}) << "checked before it was overwritten";
}

TEST(FpFlagsOfCalls, OverlappingOutputsAreWrittenOnFailure) {
  std::vector<double> x = {0, 1, 2, 4, 8, 16};
  Call call("reciprocal");
  call.in(View{GUF_F64, x.data(), {5}, {}}).out(View{GUF_F64, x.data() + 1, {5}, {}});
  call.args.options.fp_fail = GUF_FP_DIVIDE;
  EXPECT_EQ(call.run(), GUF_E_FLOATING_POINT);
  EXPECT_EQ(x, (std::vector<double>{0, kInf, 1, 0.5, 0.25, 0.125}));
}

TEST(FpFlagsOfCalls, CastOperandsAreExaminedInTheLoopsType) {
  const std::vector<float> x = {3e38F, 1};
  const std::vector<double> y = {3e38, 1};
  std::vector<double> result(2);
  uint32_t fp_flags = 0;
  Call call("multiply");
  call.in(View{GUF_F32, x.data(), {2}, {}}).in(View{GUF_F64, y.data(), {2}, {}});
  call.out(View{GUF_F64, result.data(), {2}, {}});
  call.args.options.fp_flags = &fp_flags;
  call.args.options.fp_report = kAll;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(fp_flags, 0U) << "9e76 is a float64";
}

TEST(FpFlagsOfCalls, CoreDimensions) {
  std::vector<float> x(300 * 6, 1);
  std::vector<float> result(300);
  uint32_t fp_flags = 0;
  Call call("vecdot");
  call.in(View{GUF_F32, x.data(), {300, 6}, {}}).in(View{GUF_F32, x.data(), {300, 6}, {}});
  call.out(View{GUF_F32, result.data(), {300}, {}});
  call.args.options.fp_flags = &fp_flags;
  call.args.options.fp_report = kAll;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(fp_flags, 0U);
  x[299 * 6 + 5] = 3e30F;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
}

TEST(FpFlagsOfCalls, OnAStreamTheWordIsWrittenWhenTheWorkIsDone) {
  std::vector<double> x(200000, 1), result(200000);
  x[150000] = -1;
  uint32_t fp_flags = 0;
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  Call call("sqrt");
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, &call.error), GUF_OK) << call.error.message;
  ASSERT_EQ(guf_stream_create(device, 0, &stream, &call.error), GUF_OK) << call.error.message;
  call.in(View{GUF_F64, x.data(), {200000}, {}}).out(View{GUF_F64, result.data(), {200000}, {}});
  call.args.options.stream = stream;
  call.args.options.fp_flags = &fp_flags;
  call.args.options.fp_report = call.args.options.fp_fail = GUF_FP_INVALID;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &call.error), GUF_E_FLOATING_POINT);
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_INVALID});
  EXPECT_NE(std::string(call.error.message).find("invalid value encountered in sqrt"),
            std::string::npos)
      << call.error.message;
  guf_stream_release(stream, nullptr);
}

TEST(FpFlagsOfCalls, WhatIsRefused) {
  const double x = 1;
  double result = 7;
  Call call("sqrt");
  call.in(View{GUF_F64, &x, {}, {}}).out(View{GUF_F64, &result, {}, {}});
  call.args.options.fp_report = 1;
  EXPECT_EQ(call.run(), GUF_E_ARG) << "no word to report into";
  call.args.options.fp_report = 1U << 20;
  EXPECT_EQ(call.run(), GUF_E_ARG);
  call.args.options.fp_report = 0;
  call.args.options.fp_fail = 1U << 20;
  EXPECT_EQ(call.run(), GUF_E_ARG);
  EXPECT_EQ(result, 7);
  call.args.options.fp_fail = GUF_FP_DIVIDE;
  guf_plan plan = nullptr;
  EXPECT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &call.error), GUF_E_UNSUPPORTED);
}

}  // namespace
}  // namespace gufunc
