// SPDX-License-Identifier: Apache-2.0
// Tests that queued callbacks run once, in order, on the thread that drains the queue. Also tests
// the log ring and the fork counter.
#include "core/base/callbacks.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/base/fork.h"
#include "core/base/log.h"

namespace gufunc::base {
namespace {

using testing::ElementsAre;

void remember(void *user, uint64_t value) {
  static_cast<std::vector<uint64_t> *>(user)->push_back(value);
}

TEST(Callbacks, RunOnceInOrder) {
  std::vector<uint64_t> ran;
  EXPECT_FALSE(callbacks_wait());
  for (uint64_t i = 1; i <= 3; ++i) queue_callback(remember, &ran, i);
  EXPECT_TRUE(callbacks_wait());
  EXPECT_EQ(run_callbacks(2), 2U);
  EXPECT_THAT(ran, ElementsAre(1, 2));
  EXPECT_EQ(run_callbacks(0), 1U);
  EXPECT_EQ(run_callbacks(0), 0U);
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

TEST(Callbacks, ACallbackThatIsNotQueuedNeverRuns) {
  std::vector<uint64_t> ran;
  {
    const DeferredCallback forgotten(remember, &ran, 1);
    DeferredCallback queued(remember, &ran, 2);
    queued.queue();
    queued.queue();  // has no effect, because the first call emptied `queued`
    EXPECT_TRUE(queued.empty());
    DeferredCallback at_once(remember, &ran, 3);
    at_once.run_now();
    at_once.run_now();
  }
  EXPECT_EQ(run_callbacks(0), 1U);
  EXPECT_THAT(ran, ElementsAre(3, 2));
}

TEST(Callbacks, MayQueueOthers) {
  static std::vector<uint64_t> ran;
  const CallbackFn again = [](void *user, uint64_t value) {
    ran.push_back(value);
    if (value > 0) queue_callback(reinterpret_cast<CallbackFn>(user), user, value - 1);
  };
  queue_callback(again, reinterpret_cast<void *>(again), 3);
  EXPECT_EQ(run_callbacks(0), 4U);
  EXPECT_THAT(ran, ElementsAre(3, 2, 1, 0));
}

// Producers and consumers run concurrently, for ThreadSanitizer. No callback is lost or runs twice.
TEST(Callbacks, SurviveManyThreads) {
  constexpr uint64_t kEach = 5000;
  static std::atomic<uint64_t> sum{0};
  const CallbackFn add = [](void *, uint64_t value) { sum += value; };
  std::atomic<uint32_t> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([add] {
      for (uint64_t i = 1; i <= kEach; ++i) queue_callback(add, nullptr, i);
    });
    threads.emplace_back([&ran] {
      for (int i = 0; i < 5000; ++i) ran += run_callbacks(3);
    });
  }
  for (std::thread &thread : threads) thread.join();
  ran += run_callbacks(0);
  EXPECT_EQ(ran, 2 * kEach);
  EXPECT_EQ(sum, kEach * (kEach + 1));
}

TEST(Log, ReturnsLinesInOrderAndDropsTheOldest) {
  char text[kLogWidth];
  LogLevel level = LogLevel::kError;
  while (log_take(text, sizeof text, &level)) {
  }
  for (size_t i = 0; i < kLogLines + 5; ++i) log(LogLevel::kWarning, "line %zu", i);
  for (size_t i = 5; i < kLogLines + 5; ++i) {
    ASSERT_TRUE(log_take(text, sizeof text, &level));
    EXPECT_EQ(text, "line " + std::to_string(i));
    EXPECT_EQ(level, LogLevel::kWarning);
  }
  EXPECT_FALSE(log_take(text, sizeof text, &level));
}

TEST(Log, CutsAtACharacterBoundary) {
  char text[6];
  LogLevel level = LogLevel::kError;
  log_text(LogLevel::kInformation, "abcd\xC3\xA9");
  ASSERT_TRUE(log_take(text, sizeof text, &level));
  EXPECT_STREQ(text, "abcd");
  log_text(LogLevel::kError, std::string(1000, 'x').c_str());
  char all[2000];
  ASSERT_TRUE(log_take(all, sizeof all, &level));
  EXPECT_EQ(std::strlen(all), kLogWidth - 1);
}

// Runs `body` in a forked child and returns whether it returned true.
template <class Body>
bool in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, ChildrenHaveEpochsOfTheirOwn) {
  const uint32_t own = fork_epoch();
  EXPECT_NE(own, 0U);
  EXPECT_EQ(fork_epoch(), own);
  EXPECT_TRUE(in_child([own] {
    const uint32_t child = fork_epoch();
    return child != own && child != 0 && child == fork_epoch() &&
           in_child([child, own] { return fork_epoch() != child && fork_epoch() != own; });
  }));
  EXPECT_EQ(fork_epoch(), own);
}

TEST(Fork, AChildTakesOverALockThatWasHeld) {
  static ForkLock lock;
  lock.lock();
  EXPECT_TRUE(in_child([] {
    lock.lock();
    lock.unlock();
    return true;
  }));
  lock.unlock();
  lock.lock();
  lock.unlock();
}

TEST(Fork, ThreadsAgreeOnTheEpoch) {
  std::atomic<uint32_t> seen{0};
  EXPECT_TRUE(in_child([&seen] {
    std::vector<std::thread> threads;
    std::atomic<bool> equal{true};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        uint32_t none = 0;
        const uint32_t mine = fork_epoch();
        if (!seen.compare_exchange_strong(none, mine) && none != mine) equal = false;
      });
    }
    for (std::thread &thread : threads) thread.join();
    return equal.load();
  }));
}

}  // namespace
}  // namespace gufunc::base
