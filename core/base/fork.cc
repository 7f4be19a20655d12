// SPDX-License-Identifier: Apache-2.0
// Fork detection with a page that the kernel clears in a forked child (MADV_WIPEONFORK). Before
// Linux 4.14, a handler of fork() clears the word instead, which does not detect a raw clone().
#include "core/base/fork.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gufunc::base {
namespace internal {
namespace {

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

}  // namespace gufunc::base
