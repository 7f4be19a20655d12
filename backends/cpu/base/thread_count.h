// SPDX-License-Identifier: Apache-2.0
// The number of threads that the machine, its administrator and the user grant this process.
#ifndef GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H
#define GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H

#include <cstdint>

namespace gufunc::cpu {

inline constexpr uint32_t kMaxThreads = 1024;

enum class GrantedBy : uint16_t { kNobody, kUser, kAffinity, kQuota };

// The number of threads and its source. One word, so that it can be atomic.
struct Granted {
  uint16_t threads = 0;
  GrantedBy by = GrantedBy::kNobody;
};

// Returns GUFUNC_NUM_THREADS (1..1024) if it is set, else the smaller of the affinity mask and the
// cgroup quota, but at least 1. Reads files, so it is called when the pool starts, not per launch.
Granted granted_threads();

// Returns the number of processors that the cgroup files under `root` grant the process whose
// /proc/self/cgroup contains `membership` (v2 cpu.max and v1 cfs quota, each up to the root); 0: no
// limit.
uint32_t cgroup_threads(const char *root, const char *membership);

// Starts a detached thread that blocks every signal except those that its own instructions raise. A
// program's handlers therefore run on the thread only for its own faults. `entry` must own an
// AlternateStack.
bool start_thread(void *(*entry)(void *), void *argument);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_THREAD_COUNT_H
