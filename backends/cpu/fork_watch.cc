// SPDX-License-Identifier: Apache-2.0
// Detects forks by a word in a page with MADV_WIPEONFORK: the word is 0 in a child until the child
// stores its number there.
#include "backends/cpu/fork_watch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace gufunc::cpu {
namespace {

using Word = std::atomic<uint32_t>;

// Used if the kernel is too old to wipe pages; forks are then not detected.
constinit Word unwatched{1};
constinit std::atomic<Word *> watched{&unwatched};
// In ordinary memory, so that a child inherits its parent's number and uses the next one.
constinit std::atomic<uint32_t> last_generation{1};

uint32_t number_child(Word *word) {
  const uint32_t next = last_generation.load(std::memory_order_relaxed) + 1;
  uint32_t wiped = 0;
  if (word->compare_exchange_strong(wiped, next, std::memory_order_acq_rel)) {
    last_generation.store(next, std::memory_order_relaxed);
    return next;
  }
  return wiped;
}

}  // namespace

void start_fork_watch() {
  if (watched.load(std::memory_order_acquire) != &unwatched) return;
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return;
  }
  Word *word = new (page) Word(1);
  Word *expected = &unwatched;
  if (!watched.compare_exchange_strong(expected, word, std::memory_order_acq_rel))
    munmap(page, size);
}

uint32_t process_generation() {
  Word *word = watched.load(std::memory_order_acquire);
  const uint32_t generation = word->load(std::memory_order_acquire);
  return __builtin_expect(generation != 0, 1) ? generation : number_child(word);
}

}  // namespace gufunc::cpu
