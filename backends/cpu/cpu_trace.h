// SPDX-License-Identifier: Apache-2.0
// What streams did, for the host's trace (the extension "gufunc.trace").
#ifndef GUFUNC_BACKENDS_CPU_CPU_TRACE_H
#define GUFUNC_BACKENDS_CPU_CPU_TRACE_H

#include <gufunc/backend_trace.h>

#include <atomic>
#include <cstdint>

namespace gufunc::cpu {

extern std::atomic<const guf_trace_sink *> trace_sink;  // nullptr: no trace is written

inline bool is_traced() {
  return __builtin_expect(trace_sink.load(std::memory_order_acquire) != nullptr, 0);
}

// Work of the slot that this thread is in, queued on a stream; nullptr: nobody wants to know.
guf_trace_work *make_traced(uint32_t stream);
void drop_traced(guf_trace_work *work);

// Tells of the work that runs between its two ends, and drops it.
class TracedRun {
 public:
  explicit TracedRun(guf_trace_work *work);
  TracedRun(const TracedRun &) = delete;
  TracedRun &operator=(const TracedRun &) = delete;
  ~TracedRun();

 private:
  guf_trace_work *work_;
};

const guf_trace_api &trace_table();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CPU_TRACE_H
