// SPDX-License-Identifier: Apache-2.0
// The plugin's threads: one job at a time, whose chunks are claimed one by one.
#ifndef GUFUNC_BACKENDS_CPU_CLAIM_POOL_H
#define GUFUNC_BACKENDS_CPU_CLAIM_POOL_H

#include <gufunc/status.h>

#include <atomic>
#include <cstdint>

#include "backends/cpu/thread_count.h"

namespace gufunc::cpu {

// The caller of `run` works on its own job and, at the end, waits only for chunks that a helper has
// already begun: a helper that sleeps or was descheduled costs nothing. A second caller, or a loop
// that calls back into the library, finds the pool taken and runs its chunks itself.
//
// Each chunk begins with the default floating-point control, whatever a loop left behind.
//
// Helpers start with the first job, spin a while after each and then sleep. In a forked child the
// pool finds itself without helpers and starts anew.
class ClaimPool {
 public:
  using Body = void (*)(void *context, uint32_t chunk);

  static constexpr uint32_t kMaxChunks = 0xFFFF;

  // Whether it is worth some microseconds of the caller to wake helpers that sleep.
  enum class Wake { kNo, kYes };

  // Runs body(context, i) for every i in [0, count), count <= kMaxChunks, on at most `max_threads`
  // threads (0: all), and returns when all are done. What the bodies wrote is visible to the
  // caller.
  void run(uint32_t count, uint32_t max_threads, Wake wake, Body body, void *context);

  // Threads that may work at once, the caller's included.
  uint32_t threads() { return granted().threads; }
  Granted granted();

  // Ends the helpers; the next job starts them again. GUF_TIMEOUT when a job goes on for longer.
  guf_status stop(uint64_t timeout_ns);

 private:
  // One word, so that claiming is one compare-and-swap: epoch:16 | helpers wanted:16 | count:16 |
  // next:16. A stale reader whose epoch has wrapped round can at worst take part where one helper
  // less was wanted.
  using State = uint64_t;

  static void *helper_entry(void *self);
  void help();
  bool claim_as_helper(uint64_t *inout_epoch);
  void sleep_until_work();

  class Job;

  bool acquire();
  void release();
  void start_helpers();
  void publish(uint32_t count, uint32_t helpers, Wake wake);
  void work_as_caller();
  void drop_unclaimed();
  void wait_for_helpers(uint32_t count);

  // Hot words apart: claims, completions and sleeping touch different lines.
  alignas(64) std::atomic<State> state_{0};
  Body body_ = nullptr;
  void *context_ = nullptr;
  alignas(64) std::atomic<uint32_t> done_{0};
  std::atomic<uint32_t> caller_sleeps_{0};
  alignas(64) std::atomic<uint32_t> wake_word_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> live_{0};
  std::atomic<bool> quit_{false};
  alignas(64) std::atomic<uint32_t> owner_{
      0};                           // generation of the process whose caller has it; 0: free
  std::atomic<Granted> granted_{};  // by nobody: not asked yet
  uint32_t generation_ = 0;         // of the process that started the helpers
  uint32_t helpers_ = 0;
};

// The process's one pool. Never destroyed.
ClaimPool &claim_pool();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CLAIM_POOL_H
