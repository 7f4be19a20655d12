// SPDX-License-Identifier: Apache-2.0
// Tests that the thread pool runs each chunk once: with several callers, with calls from inside a
// chunk, after a stop, and after a fork.
#include "backends/cpu/base/thread_pool.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "backends/cpu/base/cpu_wait.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

struct Counts {
  explicit Counts(uint32_t count) : chunk(count) {}
  std::vector<std::atomic<int>> chunk;
  std::mutex lock;
  std::set<std::thread::id> threads;

  static void body(void *context, uint32_t index) {
    auto &self = *static_cast<Counts *>(context);
    self.chunk[index].fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard hold(self.lock);
    self.threads.insert(std::this_thread::get_id());
  }
  bool each_once() const {
    for (const auto &count : chunk) {
      if (count.load() != 1) return false;
    }
    return true;
  }
};

// The pool may have more threads than the machine has processors, because the tests check
// correctness and not speed.
class Pool : public testing::Test {
 protected:
  void SetUp() override {
    cpu();
    test_host().config["GUFUNC_NUM_THREADS"] = "4";
    ASSERT_EQ(thread_pool().stop(UINT64_MAX), GUF_OK);  // clears the cached thread count
  }
};

TEST_F(Pool, RunsEachChunkOnce) {
  for (const uint32_t count : {0u, 1u, 2u, 3u, 7u, 1000u, ThreadPool::kMaxChunks}) {
    Counts counts(count);
    thread_pool().run(count, 0, ThreadPool::Wake::kYes, Counts::body, &counts);
    EXPECT_TRUE(counts.each_once()) << count;
  }
  EXPECT_EQ(thread_pool().threads(), 4u);
}

TEST_F(Pool, ManyJobsInARow) {
  for (int job = 0; job < 20000; ++job) {
    Counts counts(3);
    thread_pool().run(3, 0, ThreadPool::Wake::kNo, Counts::body, &counts);
    ASSERT_TRUE(counts.each_once()) << job;
  }
}

TEST_F(Pool, HonoursTheCallersLimit) {
  Counts counts(2000);
  thread_pool().run(2000, 2, ThreadPool::Wake::kYes, Counts::body, &counts);
  EXPECT_TRUE(counts.each_once());
  EXPECT_LE(counts.threads.size(), 2u);
  Counts alone(100);
  thread_pool().run(100, 1, ThreadPool::Wake::kYes, Counts::body, &alone);
  EXPECT_EQ(alone.threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_F(Pool, ServesSeveralCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int job = 0; job < 500; ++job) {
        Counts counts(5);
        thread_pool().run(5, 0, ThreadPool::Wake::kYes, Counts::body, &counts);
        if (!counts.each_once()) wrong.fetch_add(1);
      }
    });
  }
  for (auto &caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(Pool, AChunkMayUseThePool) {
  struct Nested {
    std::atomic<int> inner{0};
    static void inner_body(void *context, uint32_t) { static_cast<Nested *>(context)->inner++; }
    static void outer_body(void *context, uint32_t) {
      thread_pool().run(10, 0, ThreadPool::Wake::kYes, inner_body, context);
    }
  } nested;
  thread_pool().run(8, 0, ThreadPool::Wake::kYes, Nested::outer_body, &nested);
  EXPECT_EQ(nested.inner.load(), 80);
}

TEST_F(Pool, StopsAndStartsAgain) {
  for (int round = 0; round < 3; ++round) {
    Counts counts(100);
    thread_pool().run(100, 0, ThreadPool::Wake::kYes, Counts::body, &counts);
    EXPECT_TRUE(counts.each_once());
    EXPECT_EQ(thread_pool().stop(UINT64_MAX), GUF_OK);
  }
}

TEST_F(Pool, StopTimesOutWhileAJobRuns) {
  struct Blocked {
    std::atomic<bool> go{false}, begun{false};
    static void body(void *context, uint32_t) {
      auto &self = *static_cast<Blocked *>(context);
      self.begun = true;
      while (!self.go) std::this_thread::yield();
    }
  } blocked;
  std::thread caller(
      [&] { thread_pool().run(2, 0, ThreadPool::Wake::kNo, Blocked::body, &blocked); });
  while (!blocked.begun) std::this_thread::yield();
  EXPECT_EQ(thread_pool().stop(1000000), GUF_TIMEOUT);
  blocked.go = true;
  caller.join();
}

// Under ThreadSanitizer, a forked child of a multi-threaded process cannot start threads.
#if !defined(__SANITIZE_THREAD__)
TEST_F(Pool, WorksInAForkedChild) {
  Counts before(100);
  thread_pool().run(100, 0, ThreadPool::Wake::kYes, Counts::body, &before);
  const pid_t child = fork();
  if (child == 0) {
    Counts counts(1000);
    thread_pool().run(1000, 0, ThreadPool::Wake::kYes, Counts::body, &counts);
    _exit(counts.each_once() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  Counts after(100);
  thread_pool().run(100, 0, ThreadPool::Wake::kYes, Counts::body, &after);
  EXPECT_TRUE(after.each_once());
}

// Runs a job whose chunks each take at least 100 us. Returns the number of threads that ran chunks,
// or 0 if a chunk did not run exactly once.
size_t threads_of_a_job() {
  Counts counts(200);
  const auto body = [](void *context, uint32_t index) {
    Counts::body(context, index);
    usleep(100);
  };
  thread_pool().run(200, 0, ThreadPool::Wake::kYes, body, &counts);
  return counts.each_once() ? counts.threads.size() : 0;
}

enum Found { kRecovered, kWrongJob, kOneThread, kNoLimit };

// Runs jobs while a resource limit prevents the creation of threads, then removes the limit and
// runs jobs until a second thread helps.
Found run_without_threads() {
  constexpr uid_t kNobody = 65534;  // root is exempt from the limit
  if (geteuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0) return kNoLimit;
  rlimit before = {};
  getrlimit(RLIMIT_NPROC, &before);
  const rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_NPROC, &none);
  for (int job = 0; job < 3; ++job) {
    const size_t threads = threads_of_a_job();
    if (threads != 1) return threads == 0 ? kWrongJob : kNoLimit;
  }
  setrlimit(RLIMIT_NPROC, &before);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
    const size_t threads = threads_of_a_job();
    if (threads != 1) return threads == 0 ? kWrongJob : kRecovered;
  }
  return kOneThread;
}

// A forked child has no helper threads. Its first job tries to start helper threads and fails, and
// a later job must start them.
TEST_F(Pool, StartsRefusedHelpersLater) {
  const pid_t child = fork();
  if (child == 0) _exit(run_without_threads());
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoLimit) GTEST_SKIP() << "the system sets no limit of threads";
  EXPECT_EQ(WEXITSTATUS(status), kRecovered);
}
#endif

TEST_F(Pool, DoesNotKeepANumberOfThreadsThatItCouldNotRead) {
  test_host().config.erase("GUFUNC_NUM_THREADS");
  ASSERT_EQ(thread_pool().stop(UINT64_MAX), GUF_OK);
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);  // no more files can be opened
  const ThreadLimit without = thread_pool().granted();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(without.by, ThreadLimitSource::kUndetermined);
  EXPECT_GE(without.threads, 1u);
  EXPECT_NE(thread_pool().granted().by, ThreadLimitSource::kUndetermined);
}

TEST(Deadline, LeavesTheTimeThatAWaitStillHas) {
  EXPECT_EQ(Deadline(UINT64_MAX).left_ns(), UINT64_MAX);
  EXPECT_EQ(Deadline(0).left_ns(), 0u);
  constexpr uint64_t kDay = uint64_t{24} * 3600 * 1'000'000'000;
  EXPECT_GT(Deadline(kDay).left_ns(), kDay / 2);
  EXPECT_LE(Deadline(kDay).left_ns(), kDay);
}

}  // namespace
}  // namespace gufunc::cpu
