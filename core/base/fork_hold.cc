// SPDX-License-Identifier: Apache-2.0
// One word counts the holders and the waiting or running forks. A fork waits for a bounded time,
// because a holder may itself wait for the forking thread, in the loader's lock or in a driver's.
#include "core/base/fork_hold.h"

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace gufunc::base {
namespace {

constexpr uint32_t kOneFork = 1U << 16;
constexpr long kNapNanoseconds = 100'000;
constexpr int kMostNaps = 100'000;  // ten seconds

// Holders in the lower half, forks in the upper half.
constinit std::atomic<uint32_t> fork_state{0};
constinit thread_local uint32_t own_holds = 0;

void nap() {
  const timespec duration = {0, kNapNanoseconds};
  nanosleep(&duration, nullptr);
}

void before_fork() {
  fork_state.fetch_add(kOneFork, std::memory_order_acq_rel);
  for (int naps = 0; naps < kMostNaps; ++naps) {
    if (fork_state.load(std::memory_order_acquire) % kOneFork <= own_holds) return;
    nap();
  }
}

void after_fork_in_parent() {
  fork_state.fetch_sub(kOneFork, std::memory_order_acq_rel);
}

// In the child only the forking thread exists.
void after_fork_in_child() {
  fork_state.store(own_holds, std::memory_order_release);
}

// Runs when the library is loaded, because a handler registered during a fork() does not run for
// that fork(), which would then not wait for the first holder. If registration fails for lack of
// memory, forks do not wait at all.
[[gnu::constructor]] void register_handlers() {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

ForkHold::ForkHold() {
  if (own_holds++ > 0) {  // a fork already waits for this thread
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
