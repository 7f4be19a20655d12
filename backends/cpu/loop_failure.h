// SPDX-License-Identifier: Apache-2.0
// What the first failing call of a loop said.
#ifndef GUFUNC_BACKENDS_CPU_LOOP_FAILURE_H
#define GUFUNC_BACKENDS_CPU_LOOP_FAILURE_H

#include <gufunc/status.h>

#include <atomic>

namespace gufunc::cpu {

class LoopFailure {
 public:
  // Of several threads the first one stays. `told` is what a guf_loop_error wrote, or NULL.
  [[gnu::cold]] void keep(guf_status returned, const guf_error *told);
  // In a handler: what the loop threw, as GUF_E_LOOP.
  [[gnu::cold, gnu::noinline]] void keep_thrown();
  // Takes another's place, whose calls came before: not beside `keep`.
  void replace(const LoopFailure &earlier);

  // Writes it into `error`, once nobody runs the loop any more, and returns the call's status.
  // `text`: what the module says of GUF_E_VALUE, or NULL.
  // Errors  what the loop returned; GUF_E_LOOP <= that is no error code
  [[gnu::cold]] guf_status report(const char *text, guf_error *error) const;

 private:
  std::atomic<guf_status> returned_{GUF_OK};
  guf_error told_;  // undefined until there is a failure: a launch has no time to clear it
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOP_FAILURE_H
