// SPDX-License-Identifier: Apache-2.0
// Tests weak Python scalars: their converted values, and exact comparisons with ints that do not
// fit the dtype.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "tests/unit/resolve/typed_call.h"

namespace gufunc::resolve {
namespace {

template <class T>
T converted(const char *operands, int64_t value) {
  TypedCall call("add", operands);
  call.weak_int(1, value);
  EXPECT_EQ(call.choose(), GUF_OK) << call.error().message;
  return call.value<T>(1);
}

TEST(WeakScalars, IntsTakeTheArraysType) {
  EXPECT_EQ(converted<uint8_t>("B1", 255), 255);
  EXPECT_EQ(converted<int8_t>("b1", -128), -128);
  EXPECT_EQ(converted<int64_t>("?1", -5), -5);
  EXPECT_EQ(converted<uint64_t>("Q1", INT64_MAX), uint64_t{INT64_MAX});
  EXPECT_EQ(converted<float>("f1", 16777217), 16777216.0F);
  EXPECT_EQ(converted<double>("d1", INT64_MAX), 9223372036854775808.0);
  EXPECT_EQ(converted<uint16_t>("e1", 2049), 0x6800);    // 2048, since ties round to even
  EXPECT_EQ(converted<uint16_t>("e1", 100000), 0x7c00);  // inf, as in NumPy
  EXPECT_EQ(converted<uint16_t>("E1", 257), 0x4380);     // bfloat16 256
  EXPECT_EQ(converted<std::complex<float>>("F1", 3), std::complex<float>(3, 0));
  EXPECT_EQ(converted<std::complex<double>>("D1", -3), std::complex<double>(-3, 0));
}

TEST(WeakScalars, DescribeTheirValue) {
  TypedCall call("add", "f._");
  call.weak_float(1, 0.1);
  for (int repeat = 0; repeat < 3; ++repeat) {  // only the first call searches for a loop
    ASSERT_EQ(call.choose(), GUF_OK);
    EXPECT_EQ(call.loop(), "fff");
    EXPECT_EQ(call.choice().cast_mask, 0U);
    EXPECT_EQ(call.operand(1).layout.dtype, guf_dtype{GUF_F32});
    EXPECT_EQ(call.value<float>(1), 0.1F);
    EXPECT_EQ(call.operand(2).layout.dtype, guf_dtype{GUF_F32});
  }
}

TEST(WeakScalars, HugeIntsKeepTheirValue) {
  TypedCall exact("add", "Q1");
  exact.huge_int(1, 1ULL << 63, 0);
  ASSERT_EQ(exact.choose(), GUF_OK);
  EXPECT_EQ(exact.value<uint64_t>(1), 1ULL << 63);
  TypedCall real("add", "f1");
  real.huge_int(1, (1ULL << 63) + 1, 1);
  ASSERT_EQ(real.choose(), GUF_OK);
  EXPECT_EQ(real.value<float>(1), -9223372036854775808.0F);
  TypedCall alone("negative", "1");
  alone.huge_int(0, 1ULL << 63, 0);
  ASSERT_EQ(alone.choose(), GUF_OK);
  EXPECT_EQ(alone.loop(), "QQ");
}

TEST(WeakScalars, UnsafeCallsConvert) {
  TypedCall call("add", "b.", GUF_CASTING_UNSAFE);
  call.dtype('b').weak_float(1, 1.7);
  ASSERT_EQ(call.choose(), GUF_OK);
  EXPECT_EQ(call.value<int8_t>(1), 1);
  TypedCall test("logical_and", "f.");
  test.weak_float(1, std::nan(""));
  ASSERT_EQ(test.choose(), GUF_OK);
  EXPECT_EQ(test.loop(), "???");
  EXPECT_EQ(test.value<uint8_t>(1), 1);
  EXPECT_EQ(test.choice().cast_mask, 1U);
}

// If the int in "array < int" does not fit the dtype of the array, the comparison is still exact:
// it uses an integer loop that can represent both operands, or compares with an infinity.
TEST(WeakScalars, CompareExactly) {
  TypedCall small("less", "B1_");
  small.weak_int(1, 300);
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_EQ(small.choose(), GUF_OK) << small.error().message;
    EXPECT_EQ(small.loop(), "qq?");
    EXPECT_EQ(small.choice().cast_mask, 1U);
    EXPECT_EQ(small.value<int64_t>(1), 300);
    EXPECT_EQ(small.operand(2).layout.dtype, guf_dtype{GUF_BOOL});
  }
  TypedCall negative("less", "1Q_");
  negative.weak_int(0, -1);
  ASSERT_EQ(negative.choose(), GUF_OK);
  EXPECT_EQ(negative.loop(), "qQ?");
  EXPECT_EQ(negative.value<int64_t>(0), -1);
  TypedCall large("less", "q1_");
  large.huge_int(1, 1ULL << 63, 0);
  ASSERT_EQ(large.choose(), GUF_OK);
  EXPECT_EQ(large.loop(), "qQ?");
  EXPECT_EQ(large.value<uint64_t>(1), 1ULL << 63);
  TypedCall beyond("equal", "Q1_");
  beyond.huge_int(1, UINT64_MAX, 2);
  ASSERT_EQ(beyond.choose(), GUF_OK);
  EXPECT_EQ(beyond.loop(), "dd?");
  EXPECT_EQ(beyond.value<double>(1), std::numeric_limits<double>::infinity());
  TypedCall below("less", "b1_");
  below.huge_int(1, (1ULL << 63) + 1, 1);
  ASSERT_EQ(below.choose(), GUF_OK);
  EXPECT_EQ(below.value<double>(1), -std::numeric_limits<double>::infinity());
  TypedCall both("less", "11_");
  both.huge_int(0, 1ULL << 63, 0).weak_int(1, 1);
  ASSERT_EQ(both.choose(), GUF_OK);
  EXPECT_EQ(both.loop(), "Qq?");
}

TEST(WeakScalars, ComparisonsStillJudgeTheOutput) {
  TypedCall call("less", "B1f", GUF_CASTING_NO);
  call.weak_int(1, 300);
  EXPECT_EQ(call.choose(), GUF_E_CASTING);
}

}  // namespace
}  // namespace gufunc::resolve
