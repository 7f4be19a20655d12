// SPDX-License-Identifier: Apache-2.0
// Records the work of a device's streams, with its times, for the host's trace, through the
// extension "gufunc.trace". Two timed events enclose each piece of work in its stream. A later call
// reads these events when they are complete. Nothing is recorded on a stream that is being
// captured.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_TRACER_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_TRACER_H

#include <gufunc/backend/trace.hpp>

#include <atomic>
#include <mutex>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;
class Stream;

// Work whose events are not complete yet.
struct TracedWork {
  guf_trace_work facts;
  Stream *stream;  // reference-counted
  Native begin, end;
  TracedWork *next;
};

class Tracer {
 public:
  explicit Tracer(Device &device) : device_(device) {}
  Tracer(const Tracer &) = delete;
  Tracer &operator=(const Tracer &) = delete;

  // Called when the device is opened. Has no effect if the host has not started a trace.
  // This function and the functions below require that the device's context is current.
  void start();
  void close();

  bool on() const { return __builtin_expect(sink_ != nullptr, 0); }

  // Reports completed work to the sink. Waits neither for work
  // nor for another thread that collects.
  void collect();

  // Begins a piece of work. Returns nullptr if the stream is being captured. If no record is
  // available, returns nullptr and notifies the sink that work is missing in the trace. If the
  // driver cannot create events, host times are used.
  TracedWork *open(Stream &stream, int32_t kind);
  void close(TracedWork *work, Stream &stream);

 private:
  static constexpr uint32_t kMaxPending = 512;
  static constexpr uint32_t kOftenPending = 64;

  TracedWork *take_record();
  void put_back(TracedWork *work);
  void count_unreported() const;
  void find_base();
  bool report(TracedWork &work);
  uint64_t time_of(Native event, bool *out_known);
  void keep_order(TracedWork &work);
  void move_base(TracedWork &last);

  Device &device_;
  const guf_trace_sink *sink_ = nullptr;
  bool timed_ = false;     // there is a base event; otherwise host times are used
  Native base_ = nullptr;  // base event; used only by the thread that collects
  uint64_t base_ns_ = 0;
  std::atomic<bool> collecting_{false};
  std::atomic<uint32_t> npending_{0};

  std::mutex mutex_;  // protects the lists; no driver function is called while it is locked
  TracedWork *first_ = nullptr, *last_ = nullptr;
  TracedWork *free_records_ = nullptr;
  uint32_t nrecords_ = 0;
};

// Traces the work that is queued during the lifetime of the object: one launch, copy, fill or
// graph.
class TraceSpan {
 public:
  TraceSpan(Stream &stream, int32_t kind);
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;
  ~TraceSpan() {
    if (__builtin_expect(work_ != nullptr, 0)) end();
  }

  // Returns the trace record, or nullptr if no trace is being written.
  guf_trace_work *facts() const { return work_ == nullptr ? nullptr : &work_->facts; }

  void set_copy(uint64_t bytes, int32_t direction);
  // Sets the details of a launch. `stem` may be nullptr.
  void set_launch(Native function, const LaunchGrid &shape, const char *stem, const char *entry);

 private:
  [[gnu::cold]] void end();

  Stream &stream_;
  TracedWork *work_ = nullptr;
};

// Returns the table of the extension "gufunc.trace".
const guf_trace_api &trace_table();

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_TRACER_H
