// SPDX-License-Identifier: Apache-2.0
// The report of the first call of a loop that failed.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_LOOP_FAILURE_H
#define GUFUNC_BACKENDS_CPU_LOOPS_LOOP_FAILURE_H

#include <gufunc/status.h>

#include <atomic>

namespace gufunc::cpu {

class LoopFailure {
 public:
  // Keeps the first failure of several threads. `record` is what a guf_loop_error wrote, or NULL.
  [[gnu::cold]] void keep(guf_status returned, const guf_error *record);
  // Called in an exception handler: keeps the loop's exception as GUF_E_LOOP.
  [[gnu::cold, gnu::noinline]] void keep_thrown();
  // Replaces this failure by the failure of an earlier call. Must not run concurrently with `keep`.
  void replace(const LoopFailure &earlier);

  // Writes the failure into `error` and returns the status of the call; called after all threads
  // have left the loop. `text` is the module's message for GUF_E_VALUE, or NULL.
  // Errors  what the loop returned; GUF_E_LOOP <= the loop returned no error code
  [[gnu::cold]] guf_status report(const char *text, guf_error *error) const;

 private:
  std::atomic<guf_status> returned_{GUF_OK};
  guf_error record_;  // uninitialised until there is a failure; clearing would cost time
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_LOOP_FAILURE_H
