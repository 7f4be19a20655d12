// SPDX-License-Identifier: Apache-2.0
// Tests guf::cast between all element types: saturation, NaN, conversion to bool, and wrapping.
#include <gtest/gtest.h>
#include <gufunc/kernel/types.hpp>

#include <cmath>
#include <limits>

namespace {

using guf::cast;

template <class To>
class FloatToInteger : public testing::Test {};
using Integers =
    testing::Types<guf::i8, guf::u8, guf::i16, guf::u16, guf::i32, guf::u32, guf::i64, guf::u64>;
TYPED_TEST_SUITE(FloatToInteger, Integers);

template <class To, class From>
void check_saturation() {
  using Limits = std::numeric_limits<To>;
  const From inf = std::numeric_limits<From>::infinity();
  const From past = std::ldexp(From(1), Limits::digits);  // exactly max + 1
  const From low = std::ldexp(From(-1), Limits::digits);  // exactly the min of a signed type
  EXPECT_EQ((cast<To>(inf)), Limits::max());
  EXPECT_EQ((cast<To>(-inf)), Limits::lowest());
  EXPECT_EQ((cast<To>(std::numeric_limits<From>::quiet_NaN())), To(0));
  EXPECT_EQ((cast<To>(-std::numeric_limits<From>::quiet_NaN())), To(0));
  EXPECT_EQ((cast<To>(std::numeric_limits<From>::max())), Limits::max());
  EXPECT_EQ((cast<To>(std::numeric_limits<From>::lowest())), Limits::lowest());
  EXPECT_EQ((cast<To>(past)), Limits::max());
  EXPECT_EQ((cast<To>(std::nextafter(past, From(0)))),
            static_cast<To>(std::nextafter(past, From(0))));
  if (Limits::is_signed) {
    EXPECT_EQ((cast<To>(low)), Limits::lowest());
    EXPECT_EQ((cast<To>(std::nextafter(low, -inf))), Limits::lowest());
    EXPECT_EQ((cast<To>(From(-1.75))), static_cast<To>(-1));
  } else {
    EXPECT_EQ((cast<To>(From(-1.75))), To(0));
  }
  EXPECT_EQ((cast<To>(From(-0.5))), To(0));
  EXPECT_EQ((cast<To>(From(99.9))), To(99));
  EXPECT_EQ((cast<To>(From(-0.0))), To(0));
}

TYPED_TEST(FloatToInteger, TruncatesAndSaturates) {
  check_saturation<TypeParam, float>();
  check_saturation<TypeParam, double>();
}

TYPED_TEST(FloatToInteger, HalfAndBrainGoThroughTheirValue) {
  EXPECT_EQ(cast<TypeParam>(guf::to_f16(42.9f)), TypeParam(42));
  EXPECT_EQ(cast<TypeParam>(guf::to_bf16(42.9f)), TypeParam(43));  // 42.9 rounds to 43 in bf16
  EXPECT_EQ(cast<TypeParam>(guf::f16{0x7c00}),                     // infinity
            std::numeric_limits<TypeParam>::max());
  EXPECT_EQ(cast<TypeParam>(guf::f16{0x7e00}), TypeParam(0));  // NaN
}

TEST(Cast, TruthIsBeingNonzero) {
  EXPECT_FALSE(cast<bool>(0.0));
  EXPECT_FALSE(cast<bool>(-0.0f));
  EXPECT_TRUE(cast<bool>(std::nan("")));
  EXPECT_TRUE(cast<bool>(1e-300));
  EXPECT_TRUE(cast<bool>(256));
  EXPECT_TRUE(cast<bool>(guf::c64(0, 1)));
  EXPECT_FALSE(cast<bool>(guf::c128(0, -0.0)));
  EXPECT_TRUE(cast<bool>(guf::b8{255}));
  EXPECT_EQ(cast<guf::b8>(256).byte, 1);
  EXPECT_EQ(cast<guf::b8>(guf::b8{7}).byte, 1);
  EXPECT_EQ(cast<guf::b8>(guf::c64(0, 2)).byte, 1);
  EXPECT_EQ(cast<guf::i32>(guf::b8{9}), 1);
  EXPECT_EQ(cast<guf::c64>(guf::b8{9}).re, 1.0f);
  EXPECT_EQ(cast<guf::f16>(guf::b8{9}).bits, 0x3c00);
}

TEST(Cast, IntegersKeepTheirLowBits) {
  EXPECT_EQ(cast<guf::i8>(300), 44);
  EXPECT_EQ(cast<guf::u8>(-1), 255);
  EXPECT_EQ(cast<guf::i32>(guf::i64{0x1ffffffff}), -1);
  EXPECT_EQ(cast<guf::u64>(guf::i8{-1}), ~guf::u64{0});
}

TEST(Cast, ComplexDropsAndGainsTheImaginaryPart) {
  EXPECT_EQ(cast<double>(guf::c64(1.5f, 7)), 1.5);
  EXPECT_EQ(cast<guf::i16>(guf::c128(1e9, 1)), 32767);
  EXPECT_EQ(cast<guf::c128>(guf::i32{3}).re, 3.0);
  EXPECT_EQ(cast<guf::c128>(guf::i32{3}).im, 0.0);
  EXPECT_EQ(cast<guf::c64>(guf::c128(1e300, -2)).re, HUGE_VALF);
  EXPECT_EQ(cast<guf::c64>(guf::c128(1e300, -2)).im, -2.0f);
  EXPECT_EQ(cast<guf::f16>(guf::c64(2, 9)).bits, 0x4000);
  EXPECT_EQ(cast<guf::c64>(guf::f16{0x4000}).re, 2.0f);
}

TEST(Cast, F16FromF64RoundsOnce) {
  // 1 + 2^-11 + 2^-40 is slightly above the midpoint between two float16 numbers, so it rounds up.
  // A conversion through f32 would lose the term 2^-40, and then round the midpoint down to the
  // even number.
  EXPECT_EQ(cast<guf::f16>(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(guf::to_f16(static_cast<float>(1.0 + 0x1p-11 + 0x1p-40)).bits, 0x3c00);
}

}  // namespace
