// SPDX-License-Identifier: Apache-2.0
// A word in a page with MADV_WIPEONFORK: 1 in the process that opened the driver, 0 in its
// children.
#include "backends/gpu/gpu_fork.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "backends/gpu/gpu_host.h"

namespace gufunc::gpu {
namespace {

using Word = std::atomic<uint32_t>;

// Used before the driver is opened, and if the kernel is too old to wipe pages; forks are then not
// detected.
constinit Word unwatched{1};
constinit std::atomic<Word *> watched_word{&unwatched};

}  // namespace

void note_driver_process() {
  if (watched_word.load(std::memory_order_acquire) != &unwatched) return;
  const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, size, MADV_WIPEONFORK) != 0) {
    munmap(page, size);
    return;
  }
  watched_word.store(new (page) Word(1), std::memory_order_release);
}

bool forked() {
  return __builtin_expect(
      watched_word.load(std::memory_order_acquire)->load(std::memory_order_relaxed) == 0, 0);
}

guf_status fail_forked(guf_error *error) {
  return fail(error, GUF_E_FORKED,
              "the driver was opened before this process was forked: it serves the parent only");
}

}  // namespace gufunc::gpu
