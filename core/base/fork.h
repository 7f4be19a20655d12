// SPDX-License-Identifier: Apache-2.0
// Knowing that the process was forked, for the price of one load; and a lock that survives it.
#ifndef GUFUNC_CORE_BASE_FORK_H
#define GUFUNC_CORE_BASE_FORK_H

#include <atomic>
#include <cstdint>

namespace gufunc::base {

namespace internal {
// Points at a word that the kernel wipes in a forked child; before first use, at a word that is
// always 0.
extern std::atomic<std::atomic<uint32_t> *> fork_word;
uint32_t fork_epoch_slow();
}  // namespace internal

// A number that differs between a process and its forked children, never 0. About 0.7 ns. Objects
// made before the fork carry the parent's number: their driver or threads are not here.
inline uint32_t fork_epoch() {
  const uint32_t epoch =
      internal::fork_word.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
  return __builtin_expect(epoch != 0, 1) ? epoch : internal::fork_epoch_slow();
}

// A lock for a few instructions. A child forked while another thread held it takes it over, so what
// it guards must be readable after every single store.
class ForkLock {
 public:
  void lock();
  void unlock() { owner_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> owner_{0};  // the holder's epoch; 0: free
};

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FORK_H
