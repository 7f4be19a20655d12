// SPDX-License-Identifier: Apache-2.0
// Waits with a timeout for drivers that have no such wait: polls, with increasing sleeps.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_WAIT_CLOCK_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_WAIT_CLOCK_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace gufunc::gpu {

class WaitClock {
 public:
  // UINT64_MAX, and anything longer than a century, never ends.
  explicit WaitClock(uint64_t timeout_ns) : never_(timeout_ns >= kNever) {
    if (!never_) end_ = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  }

  bool never() const { return never_; }
  bool passed() const { return !never_ && Clock::now() >= end_; }

  // The remaining time, as the timeout of the next wait.
  uint64_t left_ns() const {
    if (never_) return UINT64_MAX;
    const auto left = std::chrono::nanoseconds(end_ - Clock::now());
    return left.count() <= 0 ? 0 : static_cast<uint64_t>(left.count());
  }

  // Sleeps 2 us at first and 1 ms at most, but not beyond the end.
  void pause() {
    auto nap = nap_;
    if (!never_) nap = std::min(nap, std::chrono::nanoseconds(end_ - Clock::now()));
    if (nap.count() > 0) {
      const timespec time{0, static_cast<long>(nap.count())};
      nanosleep(&time, nullptr);
    }
    nap_ = std::min(nap_ + nap_ / 2, kLongestNap);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr uint64_t kNever = uint64_t{100} * 365 * 24 * 3600 * 1000000000u;
  static constexpr std::chrono::nanoseconds kLongestNap{1000000};

  bool never_;
  Clock::time_point end_{};
  std::chrono::nanoseconds nap_{2000};
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_WAIT_CLOCK_H
