// SPDX-License-Identifier: Apache-2.0
// Work that is done once by one thread while others wait, with no lock held: plugins are called
// this way. A fork() of another thread waits for the work to end, so that children find it done or
// not begun.
#ifndef GUFUNC_CORE_BACKEND_ONCE_H
#define GUFUNC_CORE_BACKEND_ONCE_H

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"
#include "core/base/fork_hold.h"

namespace gufunc::backend {

class Once {
 public:
  enum class Result { kDone, kFailed, kForked };

  bool done() const { return state_.load(std::memory_order_acquire) == kFinished; }

  // Runs `work` unless it was done before. It returns false to be run again by the next caller;
  // then, and when it throws, nothing counts as done. kForked: the parent process was in the middle
  // of it (the work itself forked, or lasted longer than a fork waits); only there it will finish.
  template <class Work>
  Result run(Work work) {
    const uint32_t epoch = base::fork_epoch();
    for (;;) {
      uint32_t seen = state_.load(std::memory_order_acquire);
      if (seen == kFinished) return Result::kDone;
      if (seen == 0) {
        const base::ForkHold hold;
        if (!state_.compare_exchange_weak(seen, epoch, std::memory_order_acquire)) continue;
        Running running(state_);
        running.succeeded = work();
        return running.succeeded ? Result::kDone : Result::kFailed;
      }
      if (seen != epoch) return Result::kForked;
      state_.wait(seen, std::memory_order_acquire);
    }
  }

 private:
  static constexpr uint32_t kFinished = UINT32_MAX;

  // Tells the waiting threads how it ended, whichever way `run` is left.
  struct Running {
    explicit Running(std::atomic<uint32_t> &which) : state(which) {}
    ~Running() {
      state.store(succeeded ? kFinished : 0, std::memory_order_release);
      state.notify_all();
    }
    std::atomic<uint32_t> &state;
    bool succeeded = false;
  };

  std::atomic<uint32_t> state_{0};  // 0, the running process's epoch, or kFinished
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_ONCE_H
