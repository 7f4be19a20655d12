// SPDX-License-Identifier: Apache-2.0
// The number of threads that the machine, its administrator and the user grant to this process.
#ifndef GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H
#define GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H

#include <cstdint>

namespace gufunc::cpu {

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
