// SPDX-License-Identifier: Apache-2.0
// State spaces, bounds, alignment, and atomic operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/ptx_fixture.h"

namespace ptx::test {
namespace {

using testing::HasSubstr;

std::string fault_of(const std::string &body, const std::string &declarations = "") {
  Kernel kernel;
  kernel.declarations = declarations;
  kernel.body = body;
  kernel.in = {1, 2};
  return kernel.fault();
}

uint64_t result_of(const std::string &body, const std::string &declarations = "",
                   std::vector<uint64_t> in = {0}) {
  Kernel kernel;
  kernel.declarations = declarations;
  kernel.body = body;
  kernel.in = std::move(in);
  return kernel.run()[0];
}

TEST(PtxMemory, GlobalAccessesMustBeInAnAllocation) {
  EXPECT_THAT(fault_of("ld.global.u64 %d0, [%d6+16];\n"), HasSubstr("which is not allocated"));
  EXPECT_THAT(fault_of("ld.global.u64 %d0, [%d6+-8];\n"), HasSubstr("read of 8 bytes"));
  EXPECT_THAT(fault_of("ld.global.v2.u64 {%d0, %d1}, [%d6+8];\n"), testing::Ne(""));
  EXPECT_THAT(fault_of("ld.global.u64 %d0, [0];\n"), HasSubstr("global address 0x0"));
  EXPECT_EQ(fault_of("ld.global.u64 %d0, [%d6+8];\n"), "");
}

TEST(PtxMemory, ReadOnlyMemoryCannotBeWritten) {
  EXPECT_THAT(fault_of("st.global.u64 [%d6], 0;\n"), HasSubstr("write of 8 bytes"));
  EXPECT_THAT(fault_of("st.u64 [%d0], 0;\n"), HasSubstr("read before it is written"));
  EXPECT_THAT(fault_of("mov.u64 %d0, in;\nst.param.u64 [%d0], 0;\n"), HasSubstr("read-only"));
  const std::string table = ".const .align 4 .b8 table[4] = {1, 2, 3, 4};\n";
  EXPECT_THAT(fault_of("mov.u64 %d0, table;\nst.u8 [%d0], 0;\n", table), HasSubstr("write of 1"));
}

TEST(PtxMemory, AccessesMustBeAligned) {
  EXPECT_THAT(fault_of("ld.global.u32 %r0, [%d6+2];\n"), HasSubstr("is not a multiple of 4"));
  EXPECT_THAT(fault_of("ld.global.v2.u32 {%r0, %r1}, [%d6+4];\n"), HasSubstr("multiple of 8"));
  EXPECT_EQ(fault_of("ld.global.u16 %h0, [%d6+2];\n"), "");
}

TEST(PtxMemory, LoadsExtend) {
  EXPECT_EQ(result_of("ld.global.s8 %d0, [%d6];\nst.global.u64 [%d7], %d0;\n", "", {0x80}),
            uint64_t{0} - 128);
  EXPECT_EQ(result_of("ld.global.s8 %h0, [%d6];\nst.global.u16 [%d7], %h0;\n", "", {0x80}),
            0xFF80u);
  EXPECT_EQ(result_of("ld.global.u8 %r0, [%d6];\nst.global.u32 [%d7], %r0;\n", "", {0xFF80}),
            0x80u);
}

TEST(PtxMemory, LocalMemoryBelongsToAThread) {
  Kernel kernel;
  kernel.threads = 64;
  kernel.nout = 64;
  kernel.body =
      ".local .align 8 .b8 depot[16];\nmov.u64 %d0, depot;\nmov.u32 %r0, %tid.x;\n"
      "st.local.u32 [%d0+8], %r0;\nbar.sync 0;\ncvta.local.u64 %d1, %d0;\nld.u32 %r1, [%d1+8];\n"
      "mul.wide.u32 %d2, %r0, 8;\nadd.s64 %d3, %d7, %d2;\nst.global.u32 [%d3], %r1;\n";
  const std::vector<uint64_t> out = kernel.run();
  for (uint64_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i);
  EXPECT_THAT(fault_of(".local .b64 x;\nld.local.u64 %d0, [x+8];\n"),
              HasSubstr("outside the 8 bytes of local memory"));
  EXPECT_THAT(fault_of("ld.local.u64 %d0, [%d6];\n"), HasSubstr("local address"));
}

TEST(PtxMemory, SharedMemory) {
  const std::string shared = ".shared .align 4 .b8 tile[8];\n";
  EXPECT_EQ(result_of("st.shared.u32 [tile+4], 7;\nmov.u64 %d0, tile;\ncvta.shared.u64 %d1, %d0;\n"
                      "ld.u32 %r0, [%d1+4];\nst.global.u32 [%d7], %r0;\n",
                      shared),
            7u);
  EXPECT_THAT(fault_of("ld.shared.u32 %r0, [tile+16];\n", shared), HasSubstr("of shared memory"));
  EXPECT_THAT(fault_of("mov.u64 %d0, tile;\nld.global.u32 %r0, [%d0];\n", shared), testing::Ne(""));
  EXPECT_THAT(fault_of("mov.u64 %d0, tile;\ncvta.shared.u64 %d1, %d0;\nld.global.u32 %r0, [%d1];\n",
                       shared),
              HasSubstr("which is not a global address"));
}

TEST(PtxMemory, DynamicSharedMemoryFollowsStaticVariables) {
  Kernel kernel;
  kernel.declarations = ".shared .b32 one;\n.extern .shared .align 16 .b8 pool[];\n";
  kernel.body = "st.shared.u32 [pool+4], 9;\nmov.u64 %d0, pool;\nst.global.u64 [%d7], %d0;\n";
  kernel.shared_bytes = 8;
  EXPECT_EQ(kernel.run()[0], 16u);
  kernel.shared_bytes = 4;
  EXPECT_THAT(kernel.fault(), HasSubstr("outside the 20 bytes of shared memory"));
}

TEST(PtxMemory, VariablesOfTheModule) {
  const std::string table =
      ".global .align 8 .b8 table[16] = {1, 2, 3, 4};\n.const .f64 half = 0d3FE0000000000000;\n";
  EXPECT_EQ(
      result_of("mov.u64 %d0, table;\nld.global.nc.u32 %r0, [%d0];\nst.global.u32 [%d7], %r0;\n",
                table),
      0x0403'0201u);
  EXPECT_EQ(result_of("ld.const.f64 %g0, [half];\nst.global.f64 [%d7], %g0;\n", table), bits(0.5));
  EXPECT_EQ(
      result_of("cvta.global.u64 %d0, table;\nld.u64 %d1, [%d0+8];\nst.global.u64 [%d7], %d1;\n",
                table),
      0u);
  EXPECT_THAT(fault_of("ld.global.u64 %d0, [table+16];\n", table), HasSubstr("not allocated"));
}

TEST(PtxMemory, AtomicOperationsReturnTheOldValue) {
  Kernel kernel;
  kernel.nout = 8;
  kernel.threads = 40;
  kernel.body =
      "mov.u32 %r0, %tid.x;\natom.global.add.u32 %r1, [%d7], 2;\n"
      "atom.global.max.s32 %r1, [%d7+8], %r0;\natom.or.b32 %r1, [%d7+16], %r0;\n"
      "cvt.rn.f32.u32 %f0, %r0;\natom.global.add.f32 %f1, [%d7+24], %f0;\n"
      "atom.global.cas.b64 %d0, [%d7+32], 0, 5;\nred.global.add.u64 [%d7+40], %d0;\n"
      "atom.global.inc.u32 %r2, [%d7+48], 9;\natom.global.exch.b32 %r3, [%d7+56], %r0;\n";
  EXPECT_EQ(kernel.run(), (std::vector<uint64_t>{80, 39, 63, bits(780.0f), 5, 195, 0, 39}));
}

TEST(PtxMemory, AtomicAdditionInGlobalMemoryFlushes) {
  const std::string body = "mov.f32 %f0, 0f00000001;\natom.global.add.f32 %f1, [%d7], %f0;\n";
  EXPECT_EQ(result_of(body), 0u);
  const std::string shared =
      "mov.f32 %f0, 0f00000001;\nst.shared.u32 [x], 0;\natom.shared.add.f32 %f1, [x], %f0;\n"
      "ld.shared.u32 %r0, [x];\nst.global.u32 [%d7], %r0;\n";
  EXPECT_EQ(result_of(shared, ".shared .b32 x;\n"), 1u);
}

}  // namespace
}  // namespace ptx::test
