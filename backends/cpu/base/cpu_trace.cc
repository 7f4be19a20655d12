// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/base/cpu_trace.h"

#include <ctime>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {

constinit std::atomic<const guf_trace_sink *> trace_sink{nullptr};

namespace {

uint64_t monotonic_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void start_trace(const guf_trace_sink *sink) {
  trace_sink.store(sink, std::memory_order_release);
}

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
  } else if (sink->struct_size >= sizeof(guf_trace_sink)) {  // an older host lacks this slot
    sink->left_out(sink->context, work.device);
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
  static constexpr guf_trace_api kTable = {sizeof(guf_trace_api), GUF_TRACE_EXTENSION_VERSION,
                                           start_trace, collect_nothing};
  return kTable;
}

}  // namespace gufunc::cpu
