// SPDX-License-Identifier: Apache-2.0
// Provides loops whose items wait for each other and record their threads, and a test fixture for
// these loops.
#ifndef GUFUNC_TESTS_UNIT_CPU_SLOW_LOOP_H
#define GUFUNC_TESTS_UNIT_CPU_SLOW_LOOP_H

#include <gtest/gtest.h>
#include <gufunc/backend.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {

struct Slow {
  std::mutex lock;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  size_t rendezvous = 1;  // number of threads that wait for each other
  bool first_is_alone = false;
  bool open = true;  // no item returns while this is false
  uint64_t items = 0;

  // A loop with one input and one output of four bytes each.
  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Slow *>(user);
    for (int64_t i = 0; i < dims[0]; ++i) {
      self.wait();
      std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 4);
    }
  }

  // A loop that adds floats.
  static void add(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Slow *>(user);
    for (int64_t i = 0; i < dims[0]; ++i) {
      self.wait();
      float a = 0, b = 0;
      std::memcpy(&a, args[0] + i * steps[0], sizeof a);
      std::memcpy(&b, args[1] + i * steps[1], sizeof b);
      a += b;
      std::memcpy(args[2] + i * steps[2], &a, sizeof a);
    }
  }

  void wait() {
    std::unique_lock hold(lock);
    const bool first = items++ == 0;
    if (first && first_is_alone) {
      hold.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return;
    }
    threads.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait_for(hold, std::chrono::seconds(20),
                     [&] { return open && threads.size() >= rendezvous; });
  }
  void release() {
    const std::lock_guard hold(lock);
    open = true;
    changed.notify_all();
  }
};

// Returns a new object at a new address, because the backend caches measured costs by address.
inline Slow &fresh_loop() {
  static std::deque<Slow> all;
  return all.emplace_back();
}

inline constexpr uint64_t kSlowNs = 1'500'000'000;  // cost per element

inline std::set<std::thread::id> only_this_thread() {
  return {std::this_thread::get_id()};
}

// Allows the backend to use four threads.
class SlowWork : public testing::Test {
 protected:
  static void SetUpTestSuite() { grant("4"); }
  static void TearDownTestSuite() { grant("3"); }
  static void grant(const char *threads) {
    guf_error error = fresh_error();
    test_host().config["GUFUNC_NUM_THREADS"] = threads;
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // clears the cached thread count
  }

  void *open_stream() {
    void *stream = nullptr;
    EXPECT_EQ(cpu().stream_open(cpu_device(), 0, 0, &stream, &error_), GUF_OK);
    return stream;
  }
  void synchronize(void *stream) {
    EXPECT_EQ(cpu().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  }

  guf_error error_ = fresh_error();
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_CPU_SLOW_LOOP_H
