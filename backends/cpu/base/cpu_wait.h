// SPDX-License-Identifier: Apache-2.0
// Waits: a point in time at which a wait ends, and waiting on a 32-bit word of this process.
// Waiting on a word preserves errno.
#ifndef GUFUNC_BACKENDS_CPU_BASE_CPU_WAIT_H
#define GUFUNC_BACKENDS_CPU_BASE_CPU_WAIT_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace gufunc::cpu {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // A timeout of UINT64_MAX never expires.
  explicit Deadline(uint64_t timeout_ns) : never_(timeout_ns >= kNever) {
    if (!never_) at_ = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  }

  bool never() const { return never_; }
  Clock::time_point at() const { return at_; }
  bool expired() const { return !never_ && Clock::now() >= at_; }
  // Returns the remaining time as a timeout in nanoseconds, which is UINT64_MAX if the wait never
  // ends.
  uint64_t left_ns() const {
    if (never_) return UINT64_MAX;
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(at_ - Clock::now());
    return rest.count() <= 0 ? 0 : static_cast<uint64_t>(rest.count());
  }
  // Returns the remaining time, but at most `most`. Polling waits use this function.
  std::chrono::nanoseconds left(std::chrono::nanoseconds most) const {
    if (never_) return most;
    const auto rest = at_ - Clock::now();
    if (rest <= std::chrono::nanoseconds::zero()) return std::chrono::nanoseconds::zero();
    return rest < most ? rest : most;
  }

 private:
  // kNever is 100 years. Longer timeouts never expire, so that the addition in the constructor
  // cannot overflow.
  static constexpr uint64_t kNever = uint64_t{100} * 365 * 24 * 3600 * 1000000000u;
  bool never_;
  Clock::time_point at_{};
};

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

#endif  // GUFUNC_BACKENDS_CPU_BASE_CPU_WAIT_H
