// SPDX-License-Identifier: Apache-2.0
// A host loop that can be called: its function, its user pointer, and whether it may fail.
#ifndef GUFUNC_BACKENDS_CPU_HOST_LOOP_H
#define GUFUNC_BACKENDS_CPU_HOST_LOOP_H

#include <gufunc/backend.h>

#include <atomic>
#include <cstdint>

#include "backends/cpu/event_watch.h"

namespace gufunc::cpu {

// What a call of a failing loop returns: no status of the library, so it is told apart from every
// failure of the plugin's own. What the loop itself returned is in `failure`.
constexpr guf_status kLoopFailed = INT32_MIN;

struct HostLoop {
  void *entry = nullptr;
  void *user = nullptr;
  bool has_status = false;
  std::atomic<guf_status> *failure = nullptr;  // of the launch or chunk: the first one stays
  EventWatch *watch = nullptr;                 // of the launch: the events it looks for

  guf_status operator()(char **args, const int64_t *dims, const int64_t *steps) const {
    if (__builtin_expect(watch != nullptr, 0)) return watch->run(*this, args, dims, steps);
    return run(args, dims, steps);
  }

  guf_status run(char **args, const int64_t *dims, const int64_t *steps) const {
    if (__builtin_expect(has_status, 0)) {
      return report(reinterpret_cast<guf_loop_status>(entry)(args, dims, steps, user));
    }
    reinterpret_cast<guf_loop_numpy>(entry)(args, dims, steps, user);
    return GUF_OK;
  }

  guf_status report(guf_status returned) const {
    if (returned == GUF_OK) return GUF_OK;
    guf_status none = GUF_OK;
    failure->compare_exchange_strong(none, returned, std::memory_order_acq_rel);
    return kLoopFailed;
  }
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_HOST_LOOP_H
