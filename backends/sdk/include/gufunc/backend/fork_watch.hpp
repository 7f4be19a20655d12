// SPDX-License-Identifier: Apache-2.0
// For plugins: distinguishes a forked child from its parent without a system call and without
// an atfork handler. A page with MADV_WIPEONFORK contains a word that is 0 in a child until
// the child stores its own number in it.
#ifndef GUFUNC_BACKEND_FORK_WATCH_HPP
#define GUFUNC_BACKEND_FORK_WATCH_HPP

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace gufunc::sdk {
namespace detail {

using ForkWord = std::atomic<uint32_t>;

// The word that is used before start_fork_watch() and in a process whose kernel is too old for
// MADV_WIPEONFORK. A fork does not wipe this word, so forks are then not detected.
[[gnu::visibility("hidden")]] inline ForkWord unwatched{1};
[[gnu::visibility("hidden")]] inline std::atomic<ForkWord *> watched{&unwatched};
// The fork epoch of this process. This variable is in ordinary memory, which a fork does not wipe.
// A child inherits the epoch of its parent and uses the next number as its own.
[[gnu::visibility("hidden")]] inline ForkWord last_epoch{1};

[[gnu::cold, gnu::noinline]] inline uint32_t number_child(ForkWord *word) {
  const uint32_t next = last_epoch.load(std::memory_order_relaxed) + 1;
  uint32_t wiped = 0;
  if (!word->compare_exchange_strong(wiped, next, std::memory_order_acq_rel)) return wiped;
  last_epoch.store(next, std::memory_order_relaxed);
  return next;
}

}  // namespace detail

// Maps the page that a fork wipes. Plugins call this function when they are opened; later calls do
// nothing.
inline void start_fork_watch() {
  if (detail::watched.load(std::memory_order_acquire) != &detail::unwatched) return;
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *const page =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return;
  }
  auto *const word = new (page) detail::ForkWord(1);
  detail::ForkWord *none = &detail::unwatched;
  if (!detail::watched.compare_exchange_strong(none, word, std::memory_order_acq_rel))
    munmap(page, size);
}

// Returns a number that is never 0 and differs between a process and its forked child. A call costs
// one load, about 1 ns. An object that owns threads or driver handles stores the number when it is
// created. In a child, the stored number differs from the current number.
inline uint32_t fork_epoch() {
  detail::ForkWord *const word = detail::watched.load(std::memory_order_acquire);
  const uint32_t epoch = word->load(std::memory_order_acquire);
  return __builtin_expect(epoch != 0, 1) ? epoch : detail::number_child(word);
}

}  // namespace gufunc::sdk

#endif  // GUFUNC_BACKEND_FORK_WATCH_HPP
