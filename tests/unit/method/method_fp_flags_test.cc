// SPDX-License-Identifier: Apache-2.0
// Tests the floating-point flags of methods. A reduction reports the flags of all its steps, and
// both the flags and the result are the same for any number of threads.
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kMin = std::numeric_limits<double>::min();
constexpr uint32_t kAll =
    GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_UNDERFLOW | GUF_FP_INVALID | GUF_FP_INTEGER_DIVIDE;

template <class Args>
void report_flags(Args *args, uint32_t *fp_flags) {
  args->options.fp_flags = fp_flags;
  args->options.fp_report = kAll;
}

template <class T>
View row(guf_dtype dtype, const std::vector<T> &data) {
  return {dtype, data.data(), {static_cast<int64_t>(data.size())}, {}, 0};
}

template <class T>
uint32_t fp_flags_of_reduce(const char *ufunc, guf_dtype dtype, const std::vector<T> &data) {
  uint32_t fp_flags = 0;
  Reduce reduce(ufunc, row(dtype, data));
  report_flags(&reduce.args, &fp_flags);
  EXPECT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  return fp_flags;
}

struct Row {
  const char *ufunc;
  std::vector<double> last;  // last elements of a long reduction
  double others;
  uint32_t fp_flags;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.ufunc << " with " << row.last[0];
}

class MethodFpFlags : public testing::TestWithParam<Row> {};

std::vector<double> elements_for(const Row &row) {
  std::vector<double> data(200000, row.others);
  std::copy(row.last.begin(), row.last.end(),
            data.end() - static_cast<std::ptrdiff_t>(row.last.size()));
  return data;
}

TEST_P(MethodFpFlags, OfReduceWithAnyNumberOfThreads) {
  const std::vector<double> data = elements_for(GetParam());
  Reduce plain(GetParam().ufunc, row(GUF_F64, data));
  ASSERT_EQ(plain.run(), GUF_OK) << plain.error.message;
  for (const uint32_t threads : {1U, 2U, 7U}) {
    uint32_t fp_flags = 0;
    Reduce reduce(GetParam().ufunc, row(GUF_F64, data));
    report_flags(&reduce.args, &fp_flags);
    reduce.args.options.threads = threads;
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_EQ(fp_flags, GetParam().fp_flags) << threads << " threads";
    const double expected = elements_of<double>(plain.output)[0];
    const double found = elements_of<double>(reduce.output)[0];
    EXPECT_EQ(std::memcmp(&found, &expected, sizeof found), 0) << found << " not " << expected;
  }
}

TEST_P(MethodFpFlags, OfAccumulateAndReduceAt) {
  const std::vector<double> data = elements_for(GetParam());
  uint32_t fp_flags = 0;
  Accumulate scan(GetParam().ufunc, row(GUF_F64, data));
  report_flags(&scan.args, &fp_flags);
  ASSERT_EQ(scan.run(), GUF_OK) << scan.error.message;
  EXPECT_EQ(fp_flags, GetParam().fp_flags) << "accumulate";
  fp_flags = 0;
  const std::vector<int64_t> indices = {0, 199000};
  Accumulate stretches(GetParam().ufunc, row(GUF_F64, data));
  report_flags(&stretches.args, &fp_flags);
  ASSERT_EQ(stretches.run_at(row(GUF_I64, indices)), GUF_OK) << stretches.error.message;
  EXPECT_EQ(fp_flags, GetParam().fp_flags) << "reduceat";
}

// A row has one tile, several tiles that run in parallel unless floating-point flags are checked,
// or more elements than fit into a cache.
TEST(MethodFpFlagsOfRows, AccumulateWithFlagsReturnsTheSameBits) {
  for (const size_t length : {1, 100, 2000, 9000, 32768, 200000}) {
    std::vector<double> data(length, 1.1);
    data.back() = kInf;
    Accumulate plain("add", row(GUF_F64, data)), reporting("add", row(GUF_F64, data));
    ASSERT_EQ(plain.run(), GUF_OK) << plain.error.message;
    uint32_t fp_flags = 0;
    report_flags(&reporting.args, &fp_flags);
    ASSERT_EQ(reporting.run(), GUF_OK) << reporting.error.message;
    EXPECT_EQ(fp_flags, 0) << length;
    const auto expected = elements_of<double>(plain.output);
    const auto found = elements_of<double>(reporting.output);
    EXPECT_EQ(std::memcmp(&found[0], &expected[0], length * sizeof(double)), 0) << length;
  }
}

const Row kRows[] = {
    {"add", {kMax, kMax}, 0, GUF_FP_OVERFLOW},
    {"add", {kInf, -kInf}, 0, GUF_FP_INVALID},
    {"add", {kInf, 1}, 1, 0},
    {"multiply", {1e200, 1e200}, 1, GUF_FP_OVERFLOW},
    {"multiply", {1e-200, 1e-200}, 1, GUF_FP_UNDERFLOW},
    {"multiply", {0, kInf}, 1, GUF_FP_INVALID},
    {"divide", {0}, 1, GUF_FP_DIVIDE},
    {"divide", {kMin, kMin}, 1, GUF_FP_OVERFLOW},
    {"subtract", {1, 2}, 1, 0},
    {"maximum", {kInf, -kInf}, 1, 0},
};
INSTANTIATE_TEST_SUITE_P(Rows, MethodFpFlags, testing::ValuesIn(kRows));

TEST(MethodFpFlagsOfSteps, AreTheTreesAndNotALeftFolds) {
  // Element i is added to accumulator i mod 8. In each accumulator, large values cancel, although a
  // left fold would overflow.
  const std::vector<double> cancels = {kMax,  kMax,  0, 0, 0, 0, 0, 0,
                                       -kMax, -kMax, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(fp_flags_of_reduce("add", GUF_F64, cancels), 0U);
  const std::vector<double> from_left = {kMax, kMax, -kMax};
  EXPECT_EQ(fp_flags_of_reduce("add", GUF_F64, from_left), uint32_t{GUF_FP_OVERFLOW});
}

TEST(MethodFpFlagsOfSteps, HalvesOverflowWhereTheyAreRounded) {
  const uint16_t most = 0x7bff;  // 65504, the largest finite float16
  const auto less = static_cast<uint16_t>(most | 0x8000);
  EXPECT_EQ(fp_flags_of_reduce("add", GUF_F16, std::vector<uint16_t>{most, most}),
            uint32_t{GUF_FP_OVERFLOW});
  EXPECT_EQ(fp_flags_of_reduce("add", GUF_F16, std::vector<uint16_t>{most, most, less}), 0U)
      << "partial sums are float32";
}

TEST(MethodFpFlagsOfSteps, AMaskLeavesElementsOut) {
  const std::vector<double> data = {1e200, 1e200, 2, 3};
  const std::vector<uint8_t> mask = {1, 0, 1, 1};
  uint32_t fp_flags = 0;
  Reduce reduce("multiply", row(GUF_F64, data));
  reduce.args.where = reduce.tensor(row(GUF_BOOL, mask));
  report_flags(&reduce.args, &fp_flags);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(fp_flags, 0U);
  EXPECT_EQ(elements_of<double>(reduce.output)[0], 6e200);
}

TEST(MethodFpFlagsOfSteps, TheInitialValueIsOne) {
  const std::vector<double> data = {kMax, 1};
  uint32_t fp_flags = 0;
  Reduce reduce("add", row(GUF_F64, data));
  reduce.args.initial = reduce.weak_float(kMax);
  report_flags(&reduce.args, &fp_flags);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
}

TEST(MethodFpFlagsOfSteps, IntegersDividedByZero) {
  const std::vector<int32_t> data = {7, 2, 0, 3};
  EXPECT_EQ(fp_flags_of_reduce("floor_divide", GUF_I32, data), uint32_t{GUF_FP_INTEGER_DIVIDE});
  EXPECT_EQ(fp_flags_of_reduce("add", GUF_I32, data), 0U);
}

TEST(MethodFpFlagsOfAt, OfEveryOccurrenceOfAnIndex) {
  std::vector<double> array = {1e300, 1, 1};
  const std::vector<int64_t> indices = {0, 1, 0};
  const std::vector<double> factors = {1e5, 2, 1e5};
  uint32_t fp_flags = 0;
  At once("multiply", row(GUF_F64, array));
  once.index({GUF_I64, indices.data(), {2}, {}, 0});
  once.with({GUF_F64, factors.data(), {2}, {}, 0});
  report_flags(&once.args, &fp_flags);
  ASSERT_EQ(once.run(), GUF_OK) << once.error.message;
  EXPECT_EQ(fp_flags, 0U);
  array[0] = 1e300;
  At twice("multiply", row(GUF_F64, array));
  twice.index(row(GUF_I64, indices));
  twice.with(row(GUF_F64, factors));
  report_flags(&twice.args, &fp_flags);
  ASSERT_EQ(twice.run(), GUF_OK) << twice.error.message;
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
}

TEST(MethodFpFlagsOfAt, OfRowsAndOfUnaryFunctions) {
  std::vector<float> array = {1, 1, 1, 0};
  const std::vector<int64_t> indices = {1};
  uint32_t fp_flags = 0;
  At at("reciprocal", matrix(GUF_F32, array, 2, 2));
  at.index(row(GUF_I64, indices));
  report_flags(&at.args, &fp_flags);
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_DIVIDE});
}

TEST(MethodFpFlagsThatFail, DoSoWhenAllIsDone) {
  // Ten axes that are not reduced and cannot be coalesced require several launches. The first
  // launch raises the flag.
  constexpr int64_t kAxes = 10, kItems = 1 << kAxes, kSpan = 59049;
  std::vector<double> data(2 * kSpan, 1), result(kItems, -1);
  data[0] = data[kSpan] = kMax;
  View input = {GUF_F64, data.data(), {2}, {8 * kSpan}, 0};
  View output = {GUF_F64, result.data(), {}, {}, 0};
  for (int64_t k = 0, step = kSpan / 3, out = 1; k < kAxes; ++k, step /= 3, out *= 2) {
    input.shape.push_back(2);
    input.strides.push_back(8 * step);
    output.shape.push_back(2);
    output.strides.push_back(8 * out);
  }
  uint32_t fp_flags = 0;
  Reduce reduce("add", input);
  reduce.into(output);
  report_flags(&reduce.args, &fp_flags);
  reduce.args.options.fp_fail = GUF_FP_OVERFLOW;
  EXPECT_EQ(reduce.run(), GUF_E_FLOATING_POINT);
  EXPECT_STREQ(reduce.error.message, "overflow encountered in add");
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
  EXPECT_EQ(std::count(result.begin(), result.end(), 2), kItems - 1) << "outputs are written";
  reduce.args.options.fp_fail = GUF_FP_INVALID;
  EXPECT_EQ(reduce.run(), GUF_OK) << "what is not requested does not fail";
}

TEST(MethodFpFlagsThatFail, AllocateNoArray) {
  const std::vector<double> data = {1, 0};
  Reduce reduce("divide", row(GUF_F64, data));
  reduce.args.options.fp_fail = GUF_FP_DIVIDE;
  EXPECT_EQ(reduce.run(), GUF_E_FLOATING_POINT);
  EXPECT_EQ(reduce.output.kind, GUF_OPERAND_NONE);
}

TEST(MethodFpFlagsOnAStream, AreReportedWhenTheWorkIsDone) {
  std::vector<double> data(300000, 1), result(1);
  data[200000] = -1e308;
  data[200001] = -1e308;
  uint32_t fp_flags = 0;
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  Reduce reduce("add", row(GUF_F64, data));
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, nullptr), GUF_OK);
  ASSERT_EQ(guf_stream_create(device, 0, &stream, nullptr), GUF_OK);
  reduce.into({GUF_F64, result.data(), {}, {}, 0});
  report_flags(&reduce.args, &fp_flags);
  reduce.args.options.fp_fail = GUF_FP_OVERFLOW;
  reduce.args.options.stream = stream;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &reduce.error), GUF_E_FLOATING_POINT);
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
  guf_stream_release(stream, nullptr);
}

TEST(MethodFpFlagsRefused, UnknownOnesAndNowhereToReport) {
  const std::vector<double> data = {1, 0};
  const std::vector<int64_t> indices = {0};
  Reduce reduce("add", row(GUF_F64, data));
  reduce.args.options.fp_report = GUF_FP_DIVIDE;
  EXPECT_EQ(reduce.run(), GUF_E_ARG);
  EXPECT_STREQ(reduce.error.message, "args->options.fp_flags is NULL");
  Accumulate scan("add", row(GUF_F64, data));
  scan.args.options.fp_fail = 1U << 20;
  EXPECT_EQ(scan.run(), GUF_E_ARG);
  EXPECT_EQ(scan.run_at(row(GUF_I64, indices)), GUF_E_ARG);
  At at("add", row(GUF_F64, data));
  at.args.options.fp_report = 1U << 20;
  EXPECT_EQ(at.run(), GUF_E_ARG);
}

}  // namespace
}  // namespace gufunc
