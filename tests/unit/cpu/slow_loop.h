// SPDX-License-Identifier: Apache-2.0
// Work whose items wait for one another: it tells which threads ran them.
#ifndef GUFUNC_TESTS_UNIT_CPU_SLOW_LOOP_H
#define GUFUNC_TESTS_UNIT_CPU_SLOW_LOOP_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

namespace gufunc::cpu {

struct Slow {
  std::mutex lock;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  size_t meet = 1;  // so many threads wait for one another, but for the first item
  bool first_is_alone = false;
  bool open = true;  // no item returns before
  uint64_t items = 0;

  // One input and one output of four bytes.
  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Slow *>(user);
    for (int64_t i = 0; i < dims[0]; ++i) {
      self.wait();
      std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 4);
    }
  }

  // Float add.
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
                     [&] { return open && threads.size() >= meet; });
  }
  void release() {
    const std::lock_guard hold(lock);
    open = true;
    changed.notify_all();
  }
};

// Never at the address of another one, whose loop has been measured.
inline Slow &fresh_loop() {
  static std::deque<Slow> all;
  return all.emplace_back();
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_TESTS_UNIT_CPU_SLOW_LOOP_H
