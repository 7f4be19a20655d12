// SPDX-License-Identifier: Apache-2.0
// Reports the work of streams to the host's trace, through the extension "gufunc.trace".
#ifndef GUFUNC_BACKENDS_CPU_BASE_CPU_TRACE_H
#define GUFUNC_BACKENDS_CPU_BASE_CPU_TRACE_H

#include <gufunc/backend/trace.hpp>

#include <cstdint>

namespace gufunc::cpu {

inline bool is_traced() {
  return __builtin_expect(sdk::trace_sink.load(std::memory_order_acquire) != nullptr, 0);
}

// Returns a trace record for work that the current call of a plugin slot queues on a stream, or
// nullptr if no trace is being written.
guf_trace_work *make_traced(uint32_t stream);
void drop_traced(guf_trace_work *work);

// Reports the begin and end of a task to the trace. The object must exist exactly while the task
// runs; its destructor frees the trace record.
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

#endif  // GUFUNC_BACKENDS_CPU_BASE_CPU_TRACE_H
