// SPDX-License-Identifier: Apache-2.0
// The deadline of a wait. Some drivers have no wait with a timeout, so the library polls until the
// deadline and sleeps between two polls, longer each time.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_POLLING_DEADLINE_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_POLLING_DEADLINE_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace gufunc::gpu {

class PollingDeadline {
 public:
  // UINT64_MAX, and any timeout of more than a century, never expires.
  explicit PollingDeadline(uint64_t timeout_ns) : never_(timeout_ns >= kNever) {
    if (!never_) end_ = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  }

  bool never() const { return never_; }
  bool expired() const { return !never_ && Clock::now() >= end_; }

  // Returns the remaining time as the timeout of another wait.
  uint64_t left_ns() const {
    if (never_) return UINT64_MAX;
    const auto left = std::chrono::nanoseconds(end_ - Clock::now());
    return left.count() <= 0 ? 0 : static_cast<uint64_t>(left.count());
  }

  // Sleeps for 2 us at first and for at most 1 ms later, but not beyond the timeout.
  void pause() {
    auto interval = interval_;
    if (!never_) interval = std::min(interval, std::chrono::nanoseconds(end_ - Clock::now()));
    if (interval.count() > 0) {
      const timespec time{0, static_cast<long>(interval.count())};
      nanosleep(&time, nullptr);
    }
    interval_ = std::min(interval_ + interval_ / 2, kMaxInterval);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kNever = uint64_t{100} * 365 * 24 * 3600 * 1000000000u;
  static constexpr std::chrono::nanoseconds kMaxInterval{1000000};

  bool never_;
  Clock::time_point end_{};
  std::chrono::nanoseconds interval_{2000};
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_POLLING_DEADLINE_H
