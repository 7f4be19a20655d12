// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/base/cpu_trace.h"

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {

namespace {

// Streams report their work immediately, so there is nothing to collect.
void collect_nothing() {}

}  // namespace

guf_trace_work *make_traced(uint32_t stream) {
  const guf_trace_sink *const sink = trace_sink.load(std::memory_order_acquire);
  if (sink == nullptr) return nullptr;
  guf_trace_work work = {};
  work.struct_size = sizeof(work);
  work.stream = stream;
  sink->queued(sink->context, &work);
  if (work.call == 0) return nullptr;  // the work is not part of a traced call
  auto *const kept = create<guf_trace_work>();
  if (kept != nullptr) {
    *kept = work;
  } else {
    sdk::count_unreported(*sink, work.device);
  }
  return kept;
}

void drop_traced(guf_trace_work *work) {
  if (work != nullptr) host_free(work);
}

TracedRun::TracedRun(guf_trace_work *work) : work_(work) {
  if (work_ != nullptr) work_->begin_ns = monotonic_ns();
}

TracedRun::~TracedRun() {
  if (work_ == nullptr) return;
  work_->end_ns = monotonic_ns();
  const guf_trace_sink *const sink = trace_sink.load(std::memory_order_acquire);
  if (sink != nullptr) sink->done(sink->context, work_);
  drop_traced(work_);
}

const guf_trace_api &trace_table() {
  static constexpr guf_trace_api kTable = sdk::make_trace_api(collect_nothing);
  return kTable;
}

}  // namespace gufunc::cpu
