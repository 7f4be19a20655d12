// SPDX-License-Identifier: Apache-2.0
// Tests a queue with many producers and one consumer: every lost record is counted, and the records
// of each thread stay in order.
#include "core/trace/writer.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gufunc::trace {
namespace {

TEST(TraceQueue, HoldsSoMuchAndCountsTheRest) {
  Queue queue;
  ASSERT_TRUE(queue.allocate());
  Record record = {};
  EXPECT_FALSE(queue.take(&record));
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < Queue::kCells + 5; ++i) {
      record.work.call = i;
      EXPECT_EQ(queue.put(record), i < Queue::kCells);
    }
    EXPECT_EQ(queue.dropped(), 5 * (round + 1));
    for (uint64_t i = 0; i < Queue::kCells; ++i) {
      ASSERT_TRUE(queue.take(&record));
      ASSERT_EQ(record.work.call, i);
    }
    EXPECT_FALSE(queue.take(&record));
  }
}

TEST(TraceQueue, ManyThreadsPut) {
  constexpr uint32_t kThreads = 8;
  constexpr uint64_t kRecords = 20'000;
  Queue queue;
  ASSERT_TRUE(queue.allocate());
  std::atomic<uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&queue, &running, t] {
      Record record = {};
      record.work.thread = t;
      for (uint64_t i = 1; i <= kRecords; ++i) {
        record.work.call = i;
        queue.put(record);
      }
      running.fetch_sub(1);
    });
  }
  uint64_t last[kThreads] = {}, taken = 0;
  Record record;
  for (bool more = true; more;) {
    more = running.load() != 0;  // read before the queue, so that no record is missed
    while (queue.take(&record)) {
      ASSERT_LT(last[record.work.thread], record.work.call);
      last[record.work.thread] = record.work.call;
      ++taken;
    }
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(taken + queue.dropped(), kThreads * kRecords);
}

}  // namespace
}  // namespace gufunc::trace
