// SPDX-License-Identifier: Apache-2.0
// Runs work once, in one thread, while other threads wait. No lock is held during the work, because
// it calls plugins. A fork() in another thread waits until the work ends, so that the work is
// either done or not started in the child process.
#ifndef GUFUNC_CORE_PLUGIN_ONCE_H
#define GUFUNC_CORE_PLUGIN_ONCE_H

#include <atomic>
#include <cstdint>

#include "core/base/fork.h"

namespace gufunc::plugin {

class Once {
 public:
  enum class Result { kDone, kFailed, kForked };

  bool done() const { return state_.load(std::memory_order_acquire) == kFinished; }

  // Runs `work` unless it is done. If `work` returns false or throws, the work is not done, and the
  // next caller runs it again. kForked means that the parent process was running the work at the
  // fork (the work itself forked, or took longer than a fork waits), so the work will never finish
  // in this process.
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

  // Publishes the outcome to the waiting threads, even if `work` throws.
  struct Running {
    explicit Running(std::atomic<uint32_t> &which) : state(which) {}
    ~Running() {
      state.store(succeeded ? kFinished : 0, std::memory_order_release);
      state.notify_all();
    }
    std::atomic<uint32_t> &state;
    bool succeeded = false;
  };

  std::atomic<uint32_t> state_{0};  // 0, the epoch of the process that runs the work, or kFinished
};

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_ONCE_H
