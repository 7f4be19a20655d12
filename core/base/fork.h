// SPDX-License-Identifier: Apache-2.0
// Fork detection at the cost of one load, and a lock that survives a fork.
#ifndef GUFUNC_CORE_BASE_FORK_H
#define GUFUNC_CORE_BASE_FORK_H

#include <atomic>
#include <cstdint>

namespace gufunc::base {

namespace internal {
// Points to a word that the kernel clears in a forked child. Before the first use it points to a
// word that is always 0.
extern std::atomic<std::atomic<uint32_t> *> fork_word;
uint32_t fork_epoch_slow();
}  // namespace internal

// Returns a number that differs between a process and its forked children and is never 0. Takes
// about 0.7 ns. Objects store the number of the process that created them. A different number means
// that the object's driver state or threads do not exist in this process.
inline uint32_t fork_epoch() {
  const uint32_t epoch =
      internal::fork_word.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
  return __builtin_expect(epoch != 0, 1) ? epoch : internal::fork_epoch_slow();
}

// A lock to hold for a few instructions. If another thread held it during a fork, the child takes
// it over. The guarded data must therefore be consistent after every single store.
class ForkLock {
 public:
  void lock();
  void unlock() { owner_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> owner_{0};  // the epoch of the holder; 0 if free
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FORK_H
