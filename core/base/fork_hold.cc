// SPDX-License-Identifier: Apache-2.0
// One word counts the ForkHold objects and the waiting or running forks. A fork waits for a bounded
// time only, because a thread with a ForkHold may itself wait for a lock that the forking thread
// holds (the loader's or a driver's).
#include "core/base/fork_hold.h"

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace gufunc::base {
namespace {

constexpr uint32_t kOneFork = 1U << 16;
constexpr long kNapNanoseconds = 100'000;
constexpr int kMaxNaps = 100'000;  // ten seconds in total

// The lower 16 bits count the ForkHold objects, the upper 16 bits count the forks.
constinit std::atomic<uint32_t> fork_state{0};
constinit thread_local uint32_t own_holds = 0;

void nap() {
  const timespec duration = {0, kNapNanoseconds};
  nanosleep(&duration, nullptr);
}

void before_fork() {
  fork_state.fetch_add(kOneFork, std::memory_order_acq_rel);
  for (int naps = 0; naps < kMaxNaps; ++naps) {
    if (fork_state.load(std::memory_order_acquire) % kOneFork <= own_holds) return;
    nap();
  }
}

void after_fork_in_parent() {
  fork_state.fetch_sub(kOneFork, std::memory_order_acq_rel);
}

// Keeps only the ForkHold objects of the forking thread, the only thread in the child.
void after_fork_in_child() {
  fork_state.store(own_holds, std::memory_order_release);
}

// Registers the handlers when the library is loaded. A handler that is registered during a fork()
// does not run for that fork(), so a later registration would miss a fork() that runs at the same
// time. If registration fails for lack of memory, forks do not wait at all.
[[gnu::constructor]] void register_handlers() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

ForkHold::ForkHold() {
  // A thread that has a ForkHold must not wait for a fork, because the fork waits for this thread.
  if (own_holds++ > 0) {
    fork_state.fetch_add(1, std::memory_order_acq_rel);
    return;
  }
  for (;;) {
    uint32_t seen = fork_state.load(std::memory_order_relaxed);
    if (seen >= kOneFork) {
      nap();
    } else if (fork_state.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) {
      return;
    }
  }
}

ForkHold::~ForkHold() {
  fork_state.fetch_sub(1, std::memory_order_acq_rel);
  --own_holds;
}

}  // namespace gufunc::base
