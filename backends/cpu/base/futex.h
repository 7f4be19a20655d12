// SPDX-License-Identifier: Apache-2.0
// Waits on a 32-bit word of this process. Waiting preserves errno.
#ifndef GUFUNC_BACKENDS_CPU_BASE_FUTEX_H
#define GUFUNC_BACKENDS_CPU_BASE_FUTEX_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace gufunc::cpu {

// Sleeps while `word` is equal to `value`, at most for `timeout` (NULL: no limit).
// May wake spuriously.
inline void futex_wait(std::atomic<uint32_t> *word, uint32_t value,
                       const timespec *timeout = nullptr) {
  const int before = errno;
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(word), FUTEX_WAIT_PRIVATE, value, timeout,
          nullptr, 0);
  errno = before;
}

inline void futex_wake(std::atomic<uint32_t> *word, uint32_t threads) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(word), FUTEX_WAKE_PRIVATE, threads, nullptr,
          nullptr, 0);
}

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_FUTEX_H
