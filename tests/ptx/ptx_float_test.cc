// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic and conversions.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/ptx/ptx_fixture.h"

namespace ptx::test {
namespace {

constexpr uint64_t kNan = 0x7FFF'FFFF;  // the canonical NaN of single precision
constexpr uint64_t kOtherNan = 0xFFC0'1234;
constexpr uint64_t kInf = 0x7F80'0000;
constexpr uint64_t kMinusZero = 0x8000'0000;
constexpr uint64_t kSubnormal = 0x0000'0001;

uint64_t f(float value) {
  return bits(value);
}
uint64_t d(double value) {
  return bits(value);
}

TEST(PtxFloat, RoundingModes) {
  const uint64_t one = f(1.0f), tiny = f(0x1p-30f), above = f(std::nextafter(1.0f, 2.0f));
  const uint64_t below = f(std::nextafter(1.0f, 0.0f)), minus_tiny = f(-0x1p-30f);
  expect_rows({
      {"add.rn.f32", "b32 b32 b32", {one, tiny}, one},
      {"add.rp.f32", "b32 b32 b32", {one, tiny}, above},
      {"add.rm.f32", "b32 b32 b32", {one, tiny}, one},
      {"add.rz.f32", "b32 b32 b32", {one, minus_tiny}, below},
      {"add.rm.f32", "b32 b32 b32", {one, minus_tiny}, below},
      {"sub.rp.f32", "b32 b32 b32", {one, minus_tiny}, above},
      {"div.rz.f32", "b32 b32 b32", {f(2.0f), f(3.0f)}, 0x3F2A'AAAA},
      {"div.rn.f32", "b32 b32 b32", {f(2.0f), f(3.0f)}, 0x3F2A'AAAB},
      {"sqrt.rn.f32", "b32 b32", {f(2.0f)}, 0x3FB5'04F3},
      {"sqrt.rp.f32", "b32 b32", {f(2.0f)}, 0x3FB5'04F4},
      {"rcp.rn.f32", "b32 b32", {f(3.0f)}, 0x3EAA'AAAB},
      {"rcp.rm.f32", "b32 b32", {f(3.0f)}, 0x3EAA'AAAA},
      {"add.rp.f64", "b64 b64 b64", {d(1.0), d(0x1p-60)}, d(std::nextafter(1.0, 2.0))},
      {"mul.rz.f64", "b64 b64 b64", {d(0.1), d(0.1)}, 0x3F84'7AE1'47AE'147B},
      {"div.rn.f64", "b64 b64 b64", {d(1.0), d(3.0)}, d(1.0 / 3.0)},
  });
}

TEST(PtxFloat, FusedMultiplyAddRoundsOnce) {
  const float a = 1.0f + 0x1p-12f;
  expect_rows({
      {"fma.rn.f32", "b32 b32 b32 b32", {f(a), f(a), f(-1.0f - 0x1p-11f)}, f(0x1p-24f)},
      {"mul.rn.f32", "b32 b32 b32", {f(a), f(a)}, f(1.0f + 0x1p-11f)},
      {"fma.rz.f32", "b32 b32 b32 b32", {f(a), f(a), 0}, f(1.0f + 0x1p-11f)},
      {"fma.rp.f32", "b32 b32 b32 b32", {f(a), f(a), 0}, f(1.0f + 0x1p-11f + 0x1p-23f)},
      {"fma.rn.f64",
       "b64 b64 b64 b64",
       {d(1 + 0x1p-30), d(1 + 0x1p-30), d(-1 - 0x1p-29)},
       d(0x1p-60)},
  });
}

TEST(PtxFloat, SubnormalNumbersAndSaturation) {
  expect_rows({
      {"add.rn.f32", "b32 b32 b32", {kSubnormal, 0}, kSubnormal},
      {"add.rn.ftz.f32", "b32 b32 b32", {kSubnormal, 0}, 0},
      {"mul.rn.ftz.f32", "b32 b32 b32", {f(-0x1p-100f), f(0x1p-40f)}, kMinusZero},
      {"mul.rn.f32", "b32 b32 b32", {f(0x1p-100f), f(0x1p-40f)}, f(0x1p-140f)},
      {"add.rn.sat.f32", "b32 b32 b32", {f(0.75f), f(0.5f)}, f(1.0f)},
      {"add.rn.sat.f32", "b32 b32 b32", {f(-0.75f), f(0.5f)}, 0},
      {"add.rn.sat.f32", "b32 b32 b32", {kOtherNan, 0}, 0},
      {"abs.ftz.f32", "b32 b32", {0x8000'0001}, 0},
      {"setp.eq.ftz.f32", "pred b32 b32", {kSubnormal, 0}, 1},
      {"setp.eq.f32", "pred b32 b32", {kSubnormal, 0}, 0},
  });
}

TEST(PtxFloat, ResultsThatAreNanAreCanonical) {
  expect_rows({
      {"add.rn.f32", "b32 b32 b32", {kOtherNan, f(1.0f)}, kNan},
      {"mul.rn.f32", "b32 b32 b32", {kInf, 0}, kNan},
      {"sqrt.rn.f32", "b32 b32", {f(-1.0f)}, kNan},
      {"fma.rn.f32", "b32 b32 b32 b32", {kOtherNan, 0, 0}, kNan},
      {"min.f32", "b32 b32 b32", {kOtherNan, f(2.0f)}, f(2.0f)},
      {"max.f32", "b32 b32 b32", {f(2.0f), kOtherNan}, f(2.0f)},
      {"min.f32", "b32 b32 b32", {kOtherNan, kOtherNan}, kNan},
      {"max.NaN.f32", "b32 b32 b32", {f(2.0f), kOtherNan}, kNan},
      {"neg.f32", "b32 b32", {f(1.0f)}, f(-1.0f)},
  });
}

TEST(PtxFloat, ExtremesOrderZeros) {
  expect_rows({
      {"min.f32", "b32 b32 b32", {0, kMinusZero}, kMinusZero},
      {"max.f32", "b32 b32 b32", {kMinusZero, 0}, 0},
      {"max.f64", "b64 b64 b64", {d(-0.0), d(0.0)}, 0},
      {"min.f64", "b64 b64 b64", {d(-1.0), d(3.0)}, d(-1.0)},
      {"copysign.f32", "b32 b32 b32", {f(-1.0f), f(3.0f)}, f(-3.0f)},
      {"testp.subnormal.f32", "pred b32", {kSubnormal}, 1},
      {"testp.notanumber.f32", "pred b32", {kOtherNan}, 1},
      {"testp.finite.f64", "pred b64", {d(HUGE_VAL)}, 0},
  });
}

TEST(PtxFloat, ComparisonsWithNan) {
  expect_rows({
      {"setp.lt.f32", "pred b32 b32", {kOtherNan, 0}, 0},
      {"setp.ltu.f32", "pred b32 b32", {kOtherNan, 0}, 1},
      {"setp.ne.f32", "pred b32 b32", {kOtherNan, 0}, 0},
      {"setp.neu.f32", "pred b32 b32", {kOtherNan, 0}, 1},
      {"setp.equ.f64", "pred b64 b64", {d(NAN), d(0.0)}, 1},
      {"setp.num.f64", "pred b64 b64", {d(1.0), d(0.0)}, 1},
      {"setp.nan.f32", "pred b32 b32", {0, kOtherNan}, 1},
      {"setp.eq.f32", "pred b32 b32", {0, kMinusZero}, 1},
      {"setp.lt.f16", "pred b16 b16", {0xBC00, 0x3C00}, 1},
      {"setp.nan.f16", "pred b16 b16", {0x7E00, 0x3C00}, 1},
  });
}

TEST(PtxFloat, Halves) {
  expect_rows({
      {"add.rn.f16", "b16 b16 b16", {0x3C00, 0x1000}, 0x3C00},  // 1 + 2^-11 is a tie
      {"add.rn.f16", "b16 b16 b16", {0x3C01, 0x1000}, 0x3C02},  // a tie with an odd number
      {"mul.rn.f16", "b16 b16 b16", {0x7BFF, 0x4000}, 0x7C00},
      {"sub.rn.f16", "b16 b16 b16", {0x0002, 0x0001}, 0x0001},
      {"fma.rn.f16", "b16 b16 b16 b16", {0x3C01, 0x3C01, 0x0001}, 0x3C02},
      {"add.rn.f16x2", "b32 b32 b32", {0x3C00'4000, 0x3C00'4000}, 0x4000'4400},
      {"neg.f16x2", "b32 b32", {0x3C00'C000}, 0xBC00'4000},
      {"add.rn.f16", "b16 b16 b16", {0x7E01, 0x3C00}, 0x7FFF},
  });
}

TEST(PtxFloat, ApproximateResultsAreWithinTheirErrors) {
  expect_rows({
      {"rcp.approx.ftz.f64", "b64 b64", {d(2.0)}, d(0.5)},
      {"rcp.approx.ftz.f64", "b64 b64", {d(0x1p-1030)}, d(HUGE_VAL)},
      {"rsqrt.approx.ftz.f64", "b64 b64", {d(4.0)}, d(0.5)},
      {"ex2.approx.ftz.f32", "b32 b32", {f(3.0f)}, f(8.0f)},
      {"ex2.approx.ftz.f32", "b32 b32", {f(-140.0f)}, 0},
      {"div.approx.f32", "b32 b32 b32", {f(6.0f), f(3.0f)}, f(2.0f)},
      {"div.approx.f32", "b32 b32 b32", {f(1.0f), f(-0x1.8p126f)}, kMinusZero},
      {"div.approx.f32", "b32 b32 b32", {kInf, f(0x1.8p126f)}, kNan},
  });
  Kernel third;
  third.in = {d(3.0)};
  third.body =
      "ld.global.f64 %g0, [%d6];\nrcp.approx.ftz.f64 %g1, %g0;\nst.global.f64 [%d7], %g1;\n";
  EXPECT_EQ(third.run()[0], 0x3FD5'5555'0000'0000);
}

TEST(PtxConversion, BetweenIntegers) {
  expect_rows({
      {"cvt.s32.s8", "b32 b32", {0x180}, 0xFFFF'FF80},
      {"cvt.u32.u8", "b32 b16", {0xFF80}, 0x80},
      {"cvt.s8.s64", "b16 b64", {0x1FF}, 0xFFFF},
      {"cvt.u64.s32", "b64 b32", {0xFFFF'FFFF}, ~uint64_t{0}},
      {"cvt.u64.u32", "b64 b32", {0xFFFF'FFFF}, 0xFFFF'FFFF},
      {"cvt.u16.u64", "b16 b64", {0x1'2345}, 0x2345},
      {"cvt.sat.u8.s32", "b32 b32", {0xFFFF'FFFF}, 0},
      {"cvt.sat.s8.s32", "b32 b32", {300}, 127},
      {"cvt.sat.s8.s32", "b32 b32", {0xFFFF'0000}, 0xFFFF'FF80},
  });
}

TEST(PtxConversion, FromFloatsToIntegers) {
  expect_rows({
      {"cvt.rni.s32.f32", "b32 b32", {f(2.5f)}, 2},
      {"cvt.rzi.s32.f32", "b32 b32", {f(-2.75f)}, 0xFFFF'FFFE},
      {"cvt.rmi.s32.f32", "b32 b32", {f(-2.25f)}, 0xFFFF'FFFD},
      {"cvt.rpi.s32.f32", "b32 b32", {f(2.25f)}, 3},
      {"cvt.rzi.s32.f32", "b32 b32", {f(3e9f)}, 0x7FFF'FFFF},
      {"cvt.rzi.u32.f32", "b32 b32", {f(-1.0f)}, 0},
      {"cvt.rzi.s32.f32", "b32 b32", {kOtherNan}, 0},
      {"cvt.rzi.s64.f32", "b64 b32", {kOtherNan}, uint64_t{1} << 63},
      {"cvt.rzi.s32.f64", "b32 b64", {d(NAN)}, 0x8000'0000},
      {"cvt.rzi.u64.f64", "b64 b64", {d(1e20)}, ~uint64_t{0}},
      {"cvt.rzi.u8.f32", "b16 b32", {f(300.0f)}, 255},
      {"cvt.rzi.s16.f16", "b16 b16", {0xC200}, 0xFFFD},
  });
}

TEST(PtxConversion, FromIntegersToFloats) {
  expect_rows({
      {"cvt.rn.f32.s32", "b32 b32", {16777217}, f(16777216.0f)},
      {"cvt.rp.f32.s32", "b32 b32", {16777217}, f(16777218.0f)},
      {"cvt.rn.f32.u64", "b32 b64", {~uint64_t{0}}, f(0x1p64f)},
      {"cvt.rz.f32.u64", "b32 b64", {~uint64_t{0}}, f(0x1.fffffep63f)},
      {"cvt.rn.f64.s64", "b64 b64", {~uint64_t{0}}, d(-1.0)},
      {"cvt.rn.f64.u32", "b64 b32", {0xFFFF'FFFF}, d(4294967295.0)},
      {"cvt.rn.f16.s32", "b16 b32", {2049}, 0x6800},
      {"cvt.rn.f16.s64", "b16 b64", {uint64_t{1} << 40}, 0x7C00},
      {"cvt.rz.f16.s64", "b16 b64", {uint64_t{1} << 60}, 0x7BFF},
  });
}

TEST(PtxConversion, BetweenFloats) {
  expect_rows({
      {"cvt.rn.f32.f64", "b32 b64", {d(1 + 0x1p-24)}, f(1.0f)},
      {"cvt.rp.f32.f64", "b32 b64", {d(1 + 0x1p-24)}, f(1 + 0x1p-23f)},
      {"cvt.rn.f32.f64", "b32 b64", {d(1e300)}, kInf},
      {"cvt.rz.f32.f64", "b32 b64", {d(1e300)}, 0x7F7F'FFFF},
      {"cvt.rn.f32.f64", "b32 b64", {d(NAN)}, kNan},
      {"cvt.f64.f32", "b64 b32", {f(0x1p-149f)}, d(0x1p-149)},
      {"cvt.rn.f16.f32", "b16 b32", {f(65519.0f)}, 0x7BFF},
      {"cvt.rn.f16.f32", "b16 b32", {f(65520.0f)}, 0x7C00},
      {"cvt.rn.f16.f32", "b16 b32", {f(0x1p-25f)}, 0},
      {"cvt.rn.f16.f32", "b16 b32", {f(0x1.8p-25f)}, 1},
      {"cvt.rn.f16.f64", "b16 b64", {d(1 + 0x1p-11 + 0x1p-40)}, 0x3C01},
      {"cvt.f32.f16", "b32 b16", {0x0001}, f(0x1p-24f)},
      {"cvt.f64.f16", "b64 b16", {0xFBFF}, d(-65504.0)},
      {"cvt.rmi.f32.f32", "b32 b32", {f(-0.5f)}, f(-1.0f)},
      {"cvt.rni.f64.f64", "b64 b64", {d(3.5)}, d(4.0)},
      {"cvt.rzi.f32.f32", "b32 b32", {f(-0.5f)}, kMinusZero},
      {"cvt.sat.f32.f32", "b32 b32", {f(7.0f)}, f(1.0f)},
      {"cvt.sat.f32.f32", "b32 b32", {kOtherNan}, 0},
  });
}

TEST(PtxFloat, TheEnvironmentOfTheCallerIsIrrelevantAndRestored) {
  std::fesetround(FE_UPWARD);
  expect_rows({{"add.rn.f32", "b32 b32 b32", {f(1.0f), f(0x1p-30f)}, f(1.0f)}});
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

}  // namespace
}  // namespace ptx::test
