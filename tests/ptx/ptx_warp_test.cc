// SPDX-License-Identifier: Apache-2.0
// Divergence, calls, exchanges between lanes, barriers, and errors of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/ptx_fixture.h"

namespace ptx::test {
namespace {

using testing::Each;
using testing::HasSubstr;

// Text that stores %r0 in the element of `out` that belongs to the thread.
constexpr const char *kStore =
    "mov.u32 %r7, %tid.x;\nmul.wide.u32 %d5, %r7, 8;\nadd.s64 %d4, %d7, %d5;\n"
    "st.global.u32 [%d4], %r0;\n";

Kernel kernel_of(const std::string &body, uint32_t threads, const std::string &declarations = "") {
  Kernel kernel;
  kernel.declarations = declarations;
  kernel.body = body;
  kernel.threads = threads;
  kernel.nout = threads;
  return kernel;
}

TEST(PtxWarp, LanesMeetAgainAfterABranch) {
  const Kernel kernel = kernel_of(
      std::string("mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nsetp.eq.s32 %p0, %r2, 0;\n"
                  "@%p0 bra even;\nmov.u32 %r3, 100;\nbra.uni join;\neven:\nmov.u32 %r3, 200;\n"
                  "join:\nactivemask.b32 %r4;\npopc.b32 %r5, %r4;\nadd.s32 %r0, %r3, %r5;\n") +
          kStore,
      32);
  const std::vector<uint64_t> out = kernel.run();
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 232u : 132u);
}

TEST(PtxWarp, LanesLeaveALoopAtDifferentTimes) {
  const Kernel kernel = kernel_of(
      std::string("mov.u32 %r1, %tid.x;\nmov.u32 %r0, 0;\nloop:\nsetp.ge.u32 %p0, %r0, %r1;\n"
                  "@%p0 bra done;\nadd.s32 %r0, %r0, 1;\nbra loop;\ndone:\n") +
          kStore,
      50);
  const std::vector<uint64_t> out = kernel.run();
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(out[i], i);
}

TEST(PtxWarp, ALaneThatWaitsForAnotherLaneDoesNotKeepItFromRunning) {
  const Kernel kernel = kernel_of(
      "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p0, %r1, 0;\n@!%p0 bra set;\n"
      "wait:\nld.volatile.global.u32 %r2, [%d7];\nsetp.eq.s32 %p1, %r2, 0;\n@%p1 bra wait;\n"
      "bra.uni done;\nset:\nst.volatile.global.u32 [%d7], 1;\ndone:\n",
      2);
  EXPECT_EQ(kernel.run()[0], 1u);
}

constexpr const char *kFactorial =
    ".func (.param .b32 result) factorial(.param .b32 n)\n{\n.reg .pred p;\n.reg .b32 a<4>;\n"
    "ld.param.b32 a0, [n];\nsetp.gt.s32 p, a0, 1;\n@p bra more;\n"
    "st.param.b32 [result+0], 1;\nret;\nmore:\nadd.s32 a1, a0, -1;\n{\n.param .b32 in0;\n"
    ".param .b32 out0;\nst.param.b32 [in0+0], a1;\ncall (out0), factorial, (in0);\n"
    "ld.param.b32 a2, [out0+0];\n}\nmul.lo.s32 a3, a2, a0;\nst.param.b32 [result+0], "
    "a3;\nret;\n}\n";

TEST(PtxWarp, LanesCallAFunctionToDifferentDepths) {
  const Kernel kernel = kernel_of(
      std::string(
          "mov.u32 %r1, %tid.x;\n{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r1;\n"
          "call (y), factorial, (x);\nld.param.b32 %r0, [y];\n}\n") +
          kStore,
      12, kFactorial);
  const std::vector<uint64_t> out = kernel.run();
  uint64_t expected = 1;
  for (uint64_t i = 0; i < 12; ++i) {
    expected *= i == 0 ? 1 : i;
    EXPECT_EQ(out[i], expected);
  }
}

TEST(PtxWarp, Shuffles) {
  const auto shuffled = [](const std::string &mode, const std::string &operands) {
    return kernel_of("mov.u32 %r1, %tid.x;\nshfl.sync." + mode + ".b32 %r0|%p0, %r1, " + operands +
                         ", -1;\n@%p0 add.s32 %r0, %r0, 100;\n" + kStore,
                     32)
        .run();
  };
  const std::vector<uint64_t> up = shuffled("up", "1, 0");
  EXPECT_EQ(up[0], 0u);
  EXPECT_EQ(up[5], 104u);
  const std::vector<uint64_t> down = shuffled("down", "2, 31");
  EXPECT_EQ(down[31], 31u);
  EXPECT_EQ(down[3], 105u);
  const std::vector<uint64_t> butterfly = shuffled("bfly", "1, 31");
  EXPECT_EQ(butterfly[6], 107u);
  // Segments of 8 lanes.
  const std::vector<uint64_t> index = shuffled("idx", "3, 6175");
  EXPECT_EQ(index[9], 111u);
  EXPECT_EQ(index[31], 127u);
}

TEST(PtxWarp, VotesAndBallots) {
  const Kernel kernel =
      kernel_of(std::string("mov.u32 %r1, %laneid;\nsetp.lt.u32 %p0, %r1, 3;\n"
                            "vote.sync.ballot.b32 %r0, %p0, -1;\nvote.sync.any.pred %p1, %p0, -1;\n"
                            "vote.sync.all.pred %p2, %p0, -1;\n@%p1 add.s32 %r0, %r0, 100;\n"
                            "@%p2 add.s32 %r0, %r0, 1000;\n") +
                    kStore,
                32);
  EXPECT_THAT(kernel.run(), Each(107u));
}

TEST(PtxWarp, LanesOfAMaskWaitForEachOther) {
  // Lanes below 16 reach the shuffle by another path.
  const Kernel kernel = kernel_of(
      std::string("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 16;\n@%p0 bra low;\nbra.uni meet;\n"
                  "meet:\nshfl.sync.idx.b32 %r0, %r1, 0, 31, -1;\nbra.uni end;\n"
                  "low:\nadd.s32 %r1, %r1, 40;\nbra.uni meet;\nend:\n") +
          kStore,
      32);
  EXPECT_THAT(kernel.run(), Each(40u));
}

TEST(PtxWarp, LanesThatNeverMeetAreReported) {
  EXPECT_THAT(kernel_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 16;\n@%p0 bra low;\n"
                        "bar.warp.sync -1;\nret;\nlow:\nbar.warp.sync -1;\nret;\n",
                        32)
                  .fault(),
              HasSubstr("16 lanes wait for other lanes of their mask"));
  EXPECT_THAT(kernel_of("bar.warp.sync 1;\n", 32).fault(),
              HasSubstr("the lane is not in its mask"));
  EXPECT_THAT(
      kernel_of("mov.u32 %r1, %tid.x;\nshfl.sync.idx.b32 %r0, %r1, 20, 31, -1;\n", 16).fault(),
      HasSubstr("lane 20, which it reads, does not take part"));
}

TEST(PtxWarp, BarriersMakeSharedMemoryVisible) {
  Kernel kernel =
      kernel_of(std::string("mov.u32 %r1, %tid.x;\nmul.wide.u32 %d0, %r1, 4;\nmov.u64 %d1, tile;\n"
                            "add.s64 %d2, %d1, %d0;\nst.shared.u32 [%d2], %r1;\nbar.sync 0;\n"
                            "mov.u32 %r2, 99;\nsub.s32 %r3, %r2, %r1;\nmul.wide.u32 %d0, %r3, 4;\n"
                            "add.s64 %d2, %d1, %d0;\nld.shared.u32 %r0, [%d2];\n") +
                    kStore,
                100, ".shared .align 4 .b8 tile[400];\n");
  for (const Order &order : {Order{false, 0}, Order{true, 0}, Order{false, 7}}) {
    kernel.order = order;
    const std::vector<uint64_t> out = kernel.run();
    for (size_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], 99 - i);
  }
}

TEST(PtxWarp, BarriersThatNotAllThreadsReachAreReported) {
  EXPECT_THAT(
      kernel_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 32;\n@%p0 exit;\nbar.sync 0;\n", 96)
          .fault(),
      HasSubstr("64 threads wait at barriers, and 32 of 96 threads have ended"));
  EXPECT_THAT(kernel_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 16;\n@%p0 bra low;\n"
                        "bar.sync 0;\nret;\nlow:\nbar.sync 0;\nret;\n",
                        32)
                  .fault(),
              HasSubstr("wait at different barriers"));
  EXPECT_EQ(
      kernel_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 32;\n@%p0 exit;\nbar.sync 1, 64;\n",
                96)
          .fault(),
      "");
}

TEST(PtxWarp, RegistersMustBeWrittenBeforeTheyAreRead) {
  EXPECT_THAT(kernel_of("add.s32 %r0, %r1, 1;\nst.global.u32 [%d7], %r0;\n", 1).fault(),
              HasSubstr("thread (0, 0, 0) of block (0, 0, 0): operand 1 is read before"));
  EXPECT_THAT(kernel_of("add.s64 %d0, %d7, %d1;\nst.global.u32 [%d0], 0;\n", 1).fault(),
              HasSubstr("operand 0 is read before"));
  EXPECT_THAT(kernel_of("@%p0 add.s32 %r0, 1, 1;\n", 1).fault(), HasSubstr("the guard is read"));
  EXPECT_THAT(kernel_of("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p0, %r1, 5;\n@%p0 mov.u32 %r0, 1;\n"
                        "st.global.u32 [%d7], %r0;\n",
                        32)
                  .fault(),
              HasSubstr("thread (5, 0, 0)"));
}

TEST(PtxWarp, UnwrittenRegistersThatDoNotReachAResultAreAllowed) {
  EXPECT_EQ(kernel_of("setp.eq.s32 %p1, 1, 1;\nadd.s32 %r1, %r2, 1;\nselp.b32 %r0, 7, %r1, %p1;\n"
                      "st.global.u32 [%d7], %r0;\nnot.pred %p2, %p1;\nand.pred %p3, %p2, %p4;\n"
                      "or.pred %p5, %p4, %p1;\n@%p3 trap;\n@!%p5 trap;\n",
                      1)
                .fault(),
            "");
  EXPECT_THAT(kernel_of("setp.eq.s32 %p1, 1, 1;\nand.pred %p3, %p1, %p4;\n@%p3 trap;\n", 1).fault(),
              HasSubstr("the guard is read before it is written"));
}

TEST(PtxWarp, BlocksSeeTheirNumbers) {
  Kernel kernel = kernel_of(
      "mov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %nctaid.x;\nmul.wide.u32 %d0, %r0, 8;\n"
      "add.s64 %d1, %d7, %d0;\nmad.lo.s32 %r2, %r1, 100, %r0;\nst.global.u32 [%d1], %r2;\n",
      1);
  kernel.blocks = 3;
  kernel.nout = 3;
  EXPECT_EQ(kernel.run(), (std::vector<uint64_t>{300, 301, 302}));
  kernel.order.shuffle_seed = 3;
  EXPECT_EQ(kernel.run(), (std::vector<uint64_t>{300, 301, 302}));
}

TEST(PtxWarp, TrapsAreReported) {
  EXPECT_THAT(kernel_of("trap;\n", 1).fault(), HasSubstr("the kernel traps"));
}

}  // namespace
}  // namespace ptx::test
