// SPDX-License-Identifier: Apache-2.0
// The number of threads that the machine, its administrator and the user grant to this process, and
// the start of these threads.
#ifndef GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H
#define GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace gufunc::cpu {

// An alternate signal stack for the threads of the cpu backend. It is an array on the thread's own
// stack, near its base. Signal handlers run on the alternate stack, so that a program's handler can
// report that a user's loop overflowed the thread's stack. A thread that already has an alternate
// stack, for example from a sanitizer, keeps that stack.
class AlternateStack {
 public:
  static constexpr size_t kBytes = size_t{64} << 10;

  AlternateStack() {
    stack_t stack = {};
    if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
    stack.ss_sp = bytes_;
    stack.ss_size = kBytes;
    stack.ss_flags = 0;
    set_ = sigaltstack(&stack, nullptr) == 0;
  }
  AlternateStack(const AlternateStack &) = delete;
  AlternateStack &operator=(const AlternateStack &) = delete;
  ~AlternateStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    if (set_) sigaltstack(&none, nullptr);
  }

 private:
  bool set_ = false;
  alignas(64) char bytes_[kBytes];
};

inline constexpr uint32_t kMaxThreads = 1024;

enum class ThreadLimitSource : uint16_t { kUndetermined, kUser, kAffinity, kQuota };

// The number of threads, and the limit that determines it. With kUndetermined the number is unknown
// or provisional, and must be determined again.
// The struct fits in one word, so that std::atomic<ThreadLimit> needs no lock.
struct ThreadLimit {
  uint16_t threads = 0;
  ThreadLimitSource by = ThreadLimitSource::kUndetermined;
};

// Returns GUFUNC_NUM_THREADS (1..1024) if it is set.
// Otherwise returns the smaller of the number of processors in the affinity mask and the cgroup
// quota, but at least 1. The function reads files, so callers keep the result instead of calling it
// for each launch. If the quota cannot be read for lack of file descriptors or memory, `by` is
// kUndetermined, and the result must not be kept.
ThreadLimit thread_limit();

// Returns the number of processors that the cgroup files under `root` grant to a process,
// or 0 if there is no limit. `membership` is the content of the process's /proc/self/cgroup.
// Reads cpu.max (v2) and the cfs quota (v1) of the group and all its parents.
uint32_t cgroup_threads(const char *root, const char *membership);

// Starts a detached thread that blocks all signals except the synchronous ones,
// which its own instructions raise. A program's signal handlers therefore run on the thread only
// for faults of the thread itself. `entry` must create an AlternateStack.
bool start_thread(void *(*entry)(void *), void *argument);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H
