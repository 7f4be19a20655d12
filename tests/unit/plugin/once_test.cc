// SPDX-License-Identifier: Apache-2.0
// Tests that `Once` runs its work on one thread, publishes the result to all threads, retries after
// a failure, and restarts in a forked child if the fork interrupted the work.
#include "core/plugin/once.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace gufunc::plugin {
namespace {

TEST(Once, ManyThreadsOneRun) {
  Once once;
  std::atomic<int> runs{0};
  int result = 0;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto outcome = once.run([&] {
        ++runs;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        result = 7;
        return true;
      });
      if (outcome == Once::Result::kDone && result == 7) ++right;
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(right, 8);
  EXPECT_TRUE(once.done());
}

TEST(Once, FailuresAndExceptionsAreTriedAgain) {
  Once once;
  EXPECT_EQ(once.run([] { return false; }), Once::Result::kFailed);
  EXPECT_THROW(once.run([]() -> bool { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_FALSE(once.done());
  EXPECT_EQ(once.run([] { return true; }), Once::Result::kDone);
  EXPECT_EQ(once.run([] { return false; }), Once::Result::kDone);
}

TEST(Once, AChildDoesNotWaitForItsParentsThread) {
  Once once;
  pid_t child = -1;
  once.run([&] {
    child = fork();
    if (child == 0) _exit(once.run([] { return true; }) == Once::Result::kForked ? 0 : 1);
    return true;
  });
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gufunc::plugin
