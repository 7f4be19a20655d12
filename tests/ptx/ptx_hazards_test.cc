// SPDX-License-Identifier: Apache-2.0
// Accesses to shared memory without a barrier in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/ptx_fixture.h"

namespace ptx::test {
namespace {

using testing::HasSubstr;

// Runs a body after which %r1 is the number of the thread and %d2 the address of its element of
// the shared array `tile`.
std::string fault_of(const std::string &body, uint32_t threads) {
  Kernel kernel;
  kernel.declarations = ".shared .align 4 .b8 tile[512];\n";
  kernel.threads = threads;
  kernel.body =
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d0, %r1, 4;\nmov.u64 %d1, tile;\nadd.s64 %d2, %d1, "
      "%d0;\n" +
      body;
  return kernel.fault();
}

TEST(PtxHazards, WarpsNeedABarrier) {
  const std::string write = "st.shared.u32 [%d2], %r1;\n", read = "ld.shared.u32 %r2, [tile+8];\n";
  EXPECT_THAT(fault_of(write + read, 64), HasSubstr("without a barrier in between"));
  EXPECT_EQ(fault_of(write + "bar.sync 0;\n" + read, 64), "");
  EXPECT_THAT(fault_of(write + "bar.sync 0;\n" + read + write, 64),
              HasSubstr("without a barrier in between"));
}

TEST(PtxHazards, LanesOfAWarpNeedAWarpBarrier) {
  const std::string write = "st.shared.u32 [%d2], %r1;\n", read = "ld.shared.u32 %r2, [tile+8];\n";
  EXPECT_THAT(fault_of(write + read, 32), HasSubstr("which thread 2 accesses in line 20"));
  EXPECT_EQ(fault_of(write + "bar.warp.sync -1;\n" + read, 32), "");
  EXPECT_THAT(fault_of(write + "bar.warp.sync -1;\n" + read, 64),
              HasSubstr("without a barrier in between"));
}

TEST(PtxHazards, OtherAccessesAreAllowed) {
  EXPECT_EQ(fault_of("st.shared.u32 [tile], %r1;\n", 32), "");
  EXPECT_THAT(fault_of("st.shared.u32 [tile], %r1;\n", 64), HasSubstr("write of shared"));
  EXPECT_EQ(
      fault_of("atom.shared.add.u32 %r2, [tile], %r1;\nld.volatile.shared.u32 %r3, [tile];\n", 64),
      "");
  EXPECT_THAT(fault_of("atom.shared.add.u32 %r2, [tile], %r1;\nld.shared.u32 %r3, [tile];\n", 64),
              HasSubstr("read of shared"));
}

}  // namespace
}  // namespace ptx::test
