// SPDX-License-Identifier: Apache-2.0
// Tests how many threads run a few items of a slow loop: all available threads, or the number of
// threads that the launch requests. If the launch has a stream, the caller's thread must not run
// the loop.
#include "backends/cpu/loops/work_split.h"

#include <thread>
#include <vector>

#include "backends/cpu/runtime/cpu_table.h"
#include "tests/unit/cpu/slow_loop.h"

namespace gufunc::cpu {
namespace {

TEST(LoopCost, UnknownUntilMeasured) {
  int loop = 0, user = 0, other = 0;
  EXPECT_FALSE(LoopCost(&loop, &user).is_known());
  EXPECT_EQ(LoopCost(&loop, &user).weigh(17), 17U);
  LoopCost(&loop, &user).record(10, 10'000);  // 1 us per item, the cost of 4000 ordinary elements
  EXPECT_TRUE(LoopCost(&loop, &user).is_known());
  EXPECT_EQ(LoopCost(&loop, &user).weigh(3), 12'000U);
  EXPECT_FALSE(LoopCost(&loop, &other).is_known());
}

TEST(LoopCost, DownAtOnceAndUpByQuarters) {
  int loop = 0;
  LoopCost(&loop, nullptr).record(1, 1000);
  LoopCost(&loop, nullptr).record(1, 9000);
  EXPECT_EQ(LoopCost(&loop, nullptr).weigh(1), 12'000U);
  LoopCost(&loop, nullptr).record(1, 500);
  EXPECT_EQ(LoopCost(&loop, nullptr).weigh(1), 2000U);
}

TEST(LoopCost, WeightIsNeverBelowTheWorkAndSaturates) {
  int quick = 0, slow = 0;
  LoopCost(&quick, nullptr).record(1'000'000, 1);
  EXPECT_EQ(LoopCost(&quick, nullptr).weigh(1000), 1000U);
  LoopCost(&slow, nullptr).record(1, UINT64_MAX);
  EXPECT_EQ(LoopCost(&slow, nullptr).weigh(UINT64_MAX), UINT64_MAX);
}

class FewSlowItems : public SlowWork {
 protected:
  guf_status launch(Slow *slow, int64_t items, uint32_t threads, void *stream = nullptr) {
    in_.assign(static_cast<size_t>(items), 1.5F);
    out_.assign(static_cast<size_t>(items), 0);
    const guf_launch_block block =
        make_block({1, {items}, {in_.data(), out_.data()}, {{4}, {4}}, {GUF_F32, GUF_F32}});
    return launch_block(block, as_entry(Slow::loop), &error_, stream, slow, threads);
  }

  static LoopCost cost_of(Slow *slow) { return {reinterpret_cast<void *>(Slow::loop), slow}; }

  std::vector<float> in_, out_;
};

TEST_F(FewSlowItems, AreSharedOnceTheFirstTookLong) {
  Slow &slow = fresh_loop();
  slow.first_is_alone = true;
  slow.rendezvous = 4;
  ASSERT_EQ(launch(&slow, 5, 0), GUF_OK);
  EXPECT_EQ(slow.threads.size(), 4U);
  EXPECT_EQ(out_, in_);
}

TEST_F(FewSlowItems, AreSharedAtOnceWhenTheLoopIsKnown) {
  Slow &slow = fresh_loop();
  slow.rendezvous = 4;
  cost_of(&slow).record(1, kSlowNs);
  ASSERT_EQ(launch(&slow, 4, 0), GUF_OK);
  EXPECT_EQ(slow.threads.size(), 4U);
}

TEST_F(FewSlowItems, HaveTheThreadsThatTheLaunchNames) {
  for (const uint32_t threads : {2U, 3U, 4U}) {
    Slow &slow = fresh_loop();  // the recorded cost is low, so the backend expects a fast loop
    cost_of(&slow).record(1'000'000, 1);
    slow.rendezvous = threads;
    ASSERT_EQ(launch(&slow, threads, threads), GUF_OK);
    EXPECT_EQ(slow.threads.size(), threads);
    EXPECT_EQ(out_, in_);
  }
}

TEST_F(FewSlowItems, RunOnOneThreadIfTheLaunchRequestsIt) {
  Slow &slow = fresh_loop();
  cost_of(&slow).record(1, kSlowNs);
  ASSERT_EQ(launch(&slow, 5, 1), GUF_OK);
  EXPECT_EQ(slow.threads, only_this_thread());
}

TEST_F(FewSlowItems, OnAStreamAreQueued) {
  void *const stream = open_stream();
  for (const int64_t items : {1, 5}) {
    for (const uint32_t threads : {0U, 1U, 2U}) {
      for (const bool is_known : {false, true}) {
        Slow &slow = fresh_loop();
        slow.open = false;
        if (is_known) cost_of(&slow).record(1, kSlowNs);
        // The call returns before any item is released.
        ASSERT_EQ(launch(&slow, items, threads, stream), GUF_OK);
        slow.release();
        synchronize(stream);
        EXPECT_EQ(slow.threads.count(std::this_thread::get_id()), 0U);
        EXPECT_EQ(out_, in_);
      }
    }
  }
  cpu().stream_close(stream);
}

TEST_F(FewSlowItems, ThatWereMeasuredAreQueuedAgain) {
  void *const stream = open_stream();
  Slow &slow = fresh_loop();
  for (int round = 0; round < 3; ++round) {
    slow.items = 0;
    slow.first_is_alone = true;  // the first item takes 2 ms
    ASSERT_EQ(launch(&slow, 1, 0, stream), GUF_OK);
    synchronize(stream);
  }
  slow.open = slow.first_is_alone = false;
  ASSERT_EQ(launch(&slow, 1, 0, stream), GUF_OK);
  slow.release();
  synchronize(stream);
  EXPECT_EQ(slow.threads.count(std::this_thread::get_id()), 0U);
  cpu().stream_close(stream);
}

}  // namespace
}  // namespace gufunc::cpu
