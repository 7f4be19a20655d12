// SPDX-License-Identifier: Apache-2.0
// The report of the first failed call of a loop.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_LOOP_FAILURE_H
#define GUFUNC_BACKENDS_CPU_LOOPS_LOOP_FAILURE_H

#include <gufunc/status.h>

#include <atomic>

namespace gufunc::cpu {

class LoopFailure {
 public:
  // Keeps the first failure that any thread reports.
  // `record` is the error record that a guf_loop_error filled, or NULL.
  [[gnu::cold]] void keep(guf_status returned, const guf_error *record);
  // Keeps the exception of a loop as GUF_E_LOOP. Must be called in an exception handler.
  [[gnu::cold, gnu::noinline]] void keep_thrown();
  // Replaces this failure with the failure of an earlier call.
  // Must not run concurrently with `keep`.
  void replace(const LoopFailure &earlier);

  // Writes the failure to `error` and returns its status. Must be called after all threads have
  // left the loop. `text` is the module's message for GUF_E_VALUE, or NULL.
  // Errors  the error code that the loop returned; GUF_E_LOOP <= the loop returned another value
  [[gnu::cold]] guf_status report(const char *text, guf_error *error) const;

 private:
  std::atomic<guf_status> returned_{GUF_OK};
  guf_error record_;  // uninitialised until there is a failure, because clearing it costs time
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_LOOP_FAILURE_H
