// SPDX-License-Identifier: Apache-2.0
// Detects forks at the cost of two loads, provides a lock that a forked child can always acquire,
// and delays fork() in other threads during work that a child could not finish, such as dlopen.
#ifndef GUFUNC_CORE_BASE_FORK_H
#define GUFUNC_CORE_BASE_FORK_H

#include <atomic>
#include <cstdint>

namespace gufunc::base {

namespace internal {
// Points to a word that is cleared in a forked child. Before the first call of fork_epoch(), points
// to a word that is always 0.
extern std::atomic<std::atomic<uint32_t> *> fork_word;
uint32_t fork_epoch_slow();
}  // namespace internal

// Returns a number that is never 0 and differs between a process and its forked children. Takes
// about 0.7 ns. An object stores the number of the process that created it. If the stored number
// differs from the current one, the object's driver state and threads do not exist in this process.
inline uint32_t fork_epoch() {
  const uint32_t epoch =
      internal::fork_word.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
  return __builtin_expect(epoch != 0, 1) ? epoch : internal::fork_epoch_slow();
}

// A lock that is held for a few instructions only. If a fork happens while another
// thread holds the lock, the child can still acquire it. The guarded data must therefore be
// consistent after every single store.
class ForkLock {
 public:
  void lock();
  void unlock() { owner_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> owner_{0};  // the fork epoch of the owner; 0 if free
};

// While a ForkHold exists, a fork() in another thread waits, for at most ten seconds.
// Without the wait, a child could start with half-updated lists of the dynamic loader and
// hang in its own dlopen. Several threads may have a ForkHold at the same time, and one thread may
// have several. A fork() does not wait for the ForkHold objects of its own thread. Use ForkHold
// only for rare and slow work. ForkHold does not delay a raw clone().
class ForkHold {
 public:
  ForkHold();
  ~ForkHold();
  ForkHold(const ForkHold &) = delete;
  ForkHold &operator=(const ForkHold &) = delete;
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FORK_H
