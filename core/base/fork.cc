// SPDX-License-Identifier: Apache-2.0
// Fork detection with a page that the kernel clears in a forked child (MADV_WIPEONFORK). Before
// Linux 4.14, a handler of fork() clears the word instead, which does not detect a raw clone().
//
// One word counts the ForkHold objects and the waiting or running forks. A fork waits for a bounded
// time only, because a thread with a ForkHold may itself wait for a lock that the forking thread
// holds (the loader's or a driver's).
#include "core/base/fork.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

constinit std::atomic<uint32_t> always_zero{0};
constinit std::atomic<uint32_t> handler_word{0};
// A fork does not clear `last_epoch`, so the epoch of a child is greater than the last epoch of its
// parent.
constinit std::atomic<uint32_t> last_epoch{0};

void wipe_handler_word() {
  handler_word.store(0, std::memory_order_relaxed);
}

std::atomic<uint32_t> *make_word() {
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *const page =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    if (madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) std::atomic<uint32_t>{0};
    munmap(page, size);
  }
  pthread_atfork(nullptr, nullptr, wipe_handler_word);
  return &handler_word;
}

}  // namespace

namespace internal {

constinit std::atomic<std::atomic<uint32_t> *> fork_word{&always_zero};

uint32_t fork_epoch_slow() {
  // Two threads may each map a page. One of the pages then stays unused.
  std::atomic<uint32_t> *word = fork_word.load(std::memory_order_acquire);
  if (word == &always_zero) {
    std::atomic<uint32_t> *const made = make_word();
    if (fork_word.compare_exchange_strong(word, made, std::memory_order_acq_rel)) word = made;
  }
  uint32_t epoch = 0;
  const uint32_t fresh = last_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  if (word->compare_exchange_strong(epoch, fresh, std::memory_order_relaxed)) epoch = fresh;
  return epoch;
}

}  // namespace internal

void ForkLock::lock() {
  const uint32_t epoch = fork_epoch();
  for (int spins = 0;; ++spins) {
    uint32_t seen = owner_.load(std::memory_order_relaxed);
    if ((seen == 0 || seen != epoch) &&
        owner_.compare_exchange_weak(seen, epoch, std::memory_order_acquire)) {
      return;
    }
    if (spins > 64) sched_yield();
  }
}

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
