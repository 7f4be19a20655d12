// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, bit fields, comparisons and selections.
#include <gtest/gtest.h>

#include "tests/ptx/ptx_fixture.h"

namespace ptx::test {
namespace {

constexpr uint64_t kMinus32 = 0xFFFF'FFFF;
constexpr uint64_t kMinus64 = ~uint64_t{0};
constexpr uint64_t kMin32 = 0x8000'0000;

TEST(PtxInteger, SumsAndProductsWrap) {
  expect_rows({
      {"add.s32", "b32 b32 b32", {0x7FFF'FFFF, 1}, kMin32},
      {"add.sat.s32", "b32 b32 b32", {0x7FFF'FFFF, 1}, 0x7FFF'FFFF},
      {"sub.sat.s32", "b32 b32 b32", {kMin32, 1}, kMin32},
      {"add.u16", "b16 b16 b16", {0xFFFF, 2}, 1},
      {"sub.u64", "b64 b64 b64", {0, 1}, kMinus64},
      {"mul.lo.s32", "b32 b32 b32", {0x1'0001, 0x1'0001}, 0x2'0001},
      {"mul.lo.u16", "b16 b16 b16", {0xFFFF, 0xFFFF}, 1},
      {"mul.hi.s32", "b32 b32 b32", {kMinus32, 2}, kMinus32},
      {"mul.hi.u32", "b32 b32 b32", {kMinus32, 2}, 1},
      {"mul.hi.u64", "b64 b64 b64", {kMinus64, kMinus64}, kMinus64 - 1},
      {"mul.hi.s64", "b64 b64 b64", {kMinus64, kMinus64}, 0},
      {"mul.wide.s32", "b64 b32 b32", {kMinus32, 3}, kMinus64 - 2},
      {"mul.wide.u32", "b64 b32 b32", {kMinus32, 3}, 0x2'FFFF'FFFD},
      {"mul.wide.s16", "b32 b16 b16", {0xFFFF, 3}, 0xFFFF'FFFD},
      {"mad.lo.s32", "b32 b32 b32 b32", {3, 5, kMinus32}, 14},
      {"mad.hi.u32", "b32 b32 b32 b32", {kMinus32, kMinus32, 1}, kMinus32},
      {"mad.wide.u32", "b64 b32 b32 b64", {kMinus32, kMinus32, 1}, 0xFFFF'FFFE'0000'0002},
      {"sad.s32", "b32 b32 b32 b32", {kMinus32, 1, 10}, 12},
      {"dp4a.s32.s32", "b32 b32 b32 b32", {0xFF02'0304, 0x0101'0101, 100}, 108},
      {"dp4a.u32.u32", "b32 b32 b32 b32", {0xFF02'0304, 0x0101'0101, 100}, 364},
  });
}

TEST(PtxInteger, QuotientsTruncate) {
  expect_rows({
      {"div.s32", "b32 b32 b32", {0xFFFF'FFF9, 2}, 0xFFFF'FFFD},
      {"rem.s32", "b32 b32 b32", {0xFFFF'FFF9, 2}, kMinus32},
      {"div.u32", "b32 b32 b32", {0xFFFF'FFF9, 2}, 0x7FFF'FFFC},
      {"div.s32", "b32 b32 b32", {kMin32, kMinus32}, kMin32},
      {"rem.s32", "b32 b32 b32", {kMin32, kMinus32}, 0},
      {"div.s16", "b16 b16 b16", {0xFFF9, 2}, 0xFFFD},
      {"div.s64", "b64 b64 b64", {kMinus64 - 6, 2}, kMinus64 - 2},
      {"rem.u64", "b64 b64 b64", {kMinus64, 10}, 5},
  });
}

TEST(PtxInteger, ExtremesAndSigns) {
  expect_rows({
      {"min.s32", "b32 b32 b32", {kMinus32, 1}, kMinus32},
      {"min.u32", "b32 b32 b32", {kMinus32, 1}, 1},
      {"max.s64", "b64 b64 b64", {kMinus64, 1}, 1},
      {"max.u16", "b16 b16 b16", {0xFFFF, 1}, 0xFFFF},
      {"abs.s32", "b32 b32", {kMin32}, kMin32},
      {"abs.s16", "b16 b16", {0xFFFF}, 1},
      {"neg.s64", "b64 b64", {1}, kMinus64},
  });
}

TEST(PtxInteger, ShiftsAreClamped) {
  expect_rows({
      {"shl.b32", "b32 b32 b32", {1, 31}, kMin32},
      {"shl.b32", "b32 b32 b32", {1, 32}, 0},
      {"shl.b64", "b64 b64 b32", {1, 63}, uint64_t{1} << 63},
      {"shl.b16", "b16 b16 b32", {0xFFFF, 8}, 0xFF00},
      {"shr.u32", "b32 b32 b32", {kMin32, 31}, 1},
      {"shr.s32", "b32 b32 b32", {kMin32, 40}, kMinus32},
      {"shr.u32", "b32 b32 b32", {kMin32, 40}, 0},
      {"shr.s16", "b16 b16 b32", {0x8000, 15}, 0xFFFF},
      {"shf.l.wrap.b32", "b32 b32 b32 b32", {0x8000'0001, 3, 33}, 7},
      {"shf.l.clamp.b32", "b32 b32 b32 b32", {0x8000'0001, 3, 33}, 0x8000'0001},
      {"shf.r.wrap.b32", "b32 b32 b32 b32", {0x8000'0001, 3, 1}, 0xC000'0000},
      {"shf.r.clamp.b32", "b32 b32 b32 b32", {1, 3, 40}, 3},
  });
}

TEST(PtxInteger, BitFields) {
  expect_rows({
      {"bfe.u32", "b32 b32 b32 b32", {0xABCD'1234, 8, 8}, 0x12},
      {"bfe.s32", "b32 b32 b32 b32", {0xABCD'8234, 8, 8}, 0xFFFF'FF82},
      {"bfe.s32", "b32 b32 b32 b32", {kMin32, 28, 16}, 0xFFFF'FFF8},
      {"bfe.u32", "b32 b32 b32 b32", {kMinus32, 4, 0}, 0},
      {"bfe.u64", "b64 b64 b32 b32", {uint64_t{0xAB} << 52, 52, 11}, 0xAB},
      {"bfi.b32", "b32 b32 b32 b32 b32", {0xFF, 0, 4, 8}, 0xFF0},
      {"bfi.b32", "b32 b32 b32 b32 b32", {0, kMinus32, 28, 16}, 0x0FFF'FFFF},
      {"bfi.b64", "b64 b64 b64 b32 b32", {5, 0, 60, 4}, uint64_t{5} << 60},
      {"brev.b32", "b32 b32", {1}, kMin32},
      {"popc.b64", "b32 b64", {kMinus64}, 64},
      {"clz.b32", "b32 b32", {0}, 32},
      {"clz.b64", "b32 b64", {1}, 63},
      {"bfind.u32", "b32 b32", {0x10}, 4},
      {"bfind.s32", "b32 b32", {kMinus32}, kMinus32},
      {"bfind.shiftamt.u32", "b32 b32", {0x10}, 27},
      {"prmt.b32", "b32 b32 b32 b32", {0x3322'1100, 0x7766'5544, 0x7250}, 0x7722'5500},
      {"prmt.b32", "b32 b32 b32 b32", {0x0000'0080, 0, 0x8888}, kMinus32},
      {"lop3.b32", "b32 b32 b32 b32 b32", {0xF0F0, 0xCCCC, 0xAAAA, 0x80}, 0x8080},
      {"not.b16", "b16 b16", {0x00FF}, 0xFF00},
      {"cnot.b32", "b32 b32", {0}, 1},
      {"xor.pred", "pred pred pred", {1, 1}, 0},
      {"not.pred", "pred pred", {0}, 1},
  });
}

TEST(PtxInteger, Comparisons) {
  expect_rows({
      {"setp.lt.s32", "pred b32 b32", {kMinus32, 0}, 1},
      {"setp.lt.u32", "pred b32 b32", {kMinus32, 0}, 0},
      {"setp.hs.u32", "pred b32 b32", {kMinus32, 0}, 1},
      {"setp.ge.s16", "pred b16 b16", {0xFFFF, 0}, 0},
      {"setp.ne.b64", "pred b64 b64", {1, 2}, 1},
      {"setp.eq.and.s32", "pred b32 b32 pred", {1, 1, 0}, 0},
      {"setp.eq.or.s32", "pred b32 b32 pred", {1, 2, 1}, 1},
      {"set.gt.u32.s32", "b32 b32 b32", {2, 1}, kMinus32},
      {"set.gt.f32.s32", "b32 b32 b32", {2, 1}, 0x3F80'0000},
      {"selp.b32", "b32 b32 b32 pred", {5, 6, 1}, 5},
      {"selp.b64", "b64 b64 b64 pred", {5, 6, 0}, 6},
      {"slct.b32.s32", "b32 b32 b32 b32", {5, 6, kMinus32}, 6},
  });
}

TEST(PtxInteger, CarryPassesToTheNextInstruction) {
  Kernel kernel;
  kernel.in = {0xFFFF'FFFF, 7};
  kernel.nout = 3;
  kernel.body =
      "ld.global.b32 %r0, [%d6];\nld.global.b32 %r1, [%d6+8];\n"
      "add.cc.u32 %r2, %r0, 1;\naddc.u32 %r3, %r1, 0;\n"
      "sub.cc.u32 %r4, %r2, 1;\nsubc.u32 %r5, %r3, 0;\n"
      "st.global.b32 [%d7], %r3;\nst.global.b32 [%d7+8], %r5;\n"
      "mad.lo.cc.u32 %r2, %r0, %r0, %r0;\nmadc.hi.u32 %r3, %r0, %r0, 0;\n"
      "st.global.b32 [%d7+16], %r3;\n";
  EXPECT_EQ(kernel.run(), (std::vector<uint64_t>{8, 7, 0xFFFF'FFFF}));
}

TEST(PtxInteger, VectorsOfMov) {
  Kernel kernel;
  kernel.in = {0x1111'2222'3333'4444};
  kernel.nout = 2;
  kernel.body =
      "ld.global.b64 %d0, [%d6];\nmov.b64 {%r0, %r1}, %d0;\nmov.b64 %d1, {%r1, %r0};\n"
      "st.global.b64 [%d7], %d1;\nmov.b32 {%h0, _}, %r1;\nst.global.b16 [%d7+8], %h0;\n";
  EXPECT_EQ(kernel.run(), (std::vector<uint64_t>{0x3333'4444'1111'2222, 0x2222}));
}

}  // namespace
}  // namespace ptx::test
