// SPDX-License-Identifier: Apache-2.0
// How many threads the machine, its administrator and the user grant this process.
#ifndef GUFUNC_BACKENDS_CPU_THREAD_COUNT_H
#define GUFUNC_BACKENDS_CPU_THREAD_COUNT_H

#include <cstdint>

namespace gufunc::cpu {

inline constexpr uint32_t kMaxThreads = 1024;

enum class GrantedBy : uint16_t { kNobody, kUser, kAffinity, kQuota };

// How many, and who says so. One word, so that it can be atomic.
struct Granted {
  uint16_t threads = 0;
  GrantedBy by = GrantedBy::kNobody;
};

// GUFUNC_NUM_THREADS (1..1024), else the smaller of the affinity mask and the cgroup's quota. At
// least 1. Reads files: called when the pool starts, not per launch.
Granted granted_threads();

// Processors that the cgroup files under `root` grant the process whose /proc/self/cgroup text is
// `membership` (v2 cpu.max and v1 cfs quota, each up to the root); 0: no limit.
uint32_t cgroup_threads(const char *root, const char *membership);

// Starts a detached thread that blocks every signal but those that its own instructions raise, so
// that a program's handlers run on it for its own faults only. The entry owns an AlternateStack.
bool start_thread(void *(*entry)(void *), void *argument);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_THREAD_COUNT_H
