// SPDX-License-Identifier: Apache-2.0
// The plugin's thread pool. It runs one job at a time; threads claim the job's chunks one by one.
#ifndef GUFUNC_BACKENDS_CPU_BASE_THREAD_POOL_H
#define GUFUNC_BACKENDS_CPU_BASE_THREAD_POOL_H

#include <gufunc/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "backends/cpu/base/thread_count.h"

namespace gufunc::cpu {

// The helpers are the threads of the pool. The caller of `run` also works on its own job. At the
// end it waits only for chunks that a helper has already begun, so a sleeping helper costs nothing.
// A second caller, or a loop that calls back into the library, finds the pool in use and runs all
// its chunks itself.
//
// Each chunk begins with the default floating-point control, even if an earlier loop changed it.
//
// The first job starts the helpers. They spin for a while after each job and then sleep. In a
// forked child, the pool detects that its helpers do not exist and starts new ones. If the system
// refuses a thread, jobs run on the threads that exist. The limit may be temporary (RLIMIT_NPROC),
// so later jobs try again to start the missing helpers, at most once per kRetryPause.
class ThreadPool {
 public:
  using Body = void (*)(void *context, uint32_t chunk);

  static constexpr uint32_t kMaxChunks = 0xFFFF;

  // The minimum time between two attempts to start helpers. A refused attempt costs 20 us.
  static constexpr std::chrono::milliseconds kRetryPause{100};

  // Whether the job is large enough to justify waking helpers,
  // which costs the caller some microseconds.
  enum class Wake { kNo, kYes };

  // Runs body(context, i) for every i in [0, count), where count <= kMaxChunks,
  // on at most `max_threads` threads (0: all threads). Returns when all chunks are done;
  // everything that the bodies wrote is then visible to the caller.
  void run(uint32_t count, uint32_t max_threads, Wake wake, Body body, void *context);

  // Returns the number of threads that can work at the same time, including the caller.
  uint32_t threads() { return granted().threads; }
  ThreadLimit granted();

  // Ends the helpers; the next job starts them again.
  // Returns GUF_TIMEOUT if a job or a helper is still running when the timeout expires.
  guf_status stop(uint64_t timeout_ns);

 private:
  // The state of a job is one word, so that a claim is one compare-and-swap. Its fields, from the
  // highest bits down, are epoch:16 | free helper slots:16 | number of chunks:16 | next chunk:16.
  // If the epoch wraps around while a helper sleeps, one more helper than requested may work on a
  // job.
  using State = uint64_t;

  static void *helper_entry(void *self);
  void help();
  bool claim_as_helper(uint64_t *inout_epoch);
  void sleep_until_work();

  class Job;

  bool acquire();
  void release();
  void start_helpers();
  void add_helpers();
  void publish(uint32_t count, uint32_t helpers, Wake wake);
  void work_as_caller();
  void drop_unclaimed();
  void wait_for_helpers(uint32_t count);

  // The counters of claims, of completions and of sleepers are in different cache lines.
  alignas(64) std::atomic<State> state_{0};
  Body body_ = nullptr;
  void *context_ = nullptr;
  alignas(64) std::atomic<uint32_t> done_{0};
  std::atomic<uint32_t> caller_sleeps_{0};
  alignas(64) std::atomic<uint32_t> wake_word_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> live_{0};
  std::atomic<bool> quit_{false};
  // The fork epoch of the process that uses the pool, or 0 if the pool is free.
  alignas(64) std::atomic<uint32_t> owner_{0};
  std::atomic<ThreadLimit> granted_{};  // not determined yet if `by` is kUndetermined
  uint32_t fork_epoch_ = 0;             // fork epoch of the process that started the helpers
  uint32_t helpers_ = 0;
  bool short_of_helpers_ = false;  // the system refused a thread; set only by the pool's owner
  std::chrono::steady_clock::time_point next_try_{};
};

// Returns the only pool of the process. It is never destroyed.
ThreadPool &thread_pool();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_THREAD_POOL_H
