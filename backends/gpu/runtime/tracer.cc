// SPDX-License-Identifier: Apache-2.0
// The driver reports the time between two events as a float in milliseconds, which has a precision
// of a microsecond for a few seconds only. Times are therefore measured from a base event that is
// replaced regularly.
#include "backends/gpu/runtime/tracer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "backends/gpu/runtime/driver_process.h"
#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_plugin.h"

namespace gufunc::gpu {
namespace {

constexpr uint64_t kBaseLife = 1'000'000'000;  // in nanoseconds

void collect_trace() {
  if (forked()) return;
  for_each_device([](Device &device) -> guf_status {
    ScopedContext scope(device);
    if (scope.begin(nullptr) == GUF_OK) device.tracer().collect();
    return GUF_OK;
  });
}

}  // namespace

const guf_trace_api &trace_table() {
  static constexpr guf_trace_api kTable = sdk::make_trace_api(collect_trace);
  return kTable;
}

void Tracer::start() {
  const guf_trace_sink *const sink = sdk::trace_sink.load(std::memory_order_acquire);
  if (sink == nullptr) return;
  sink_ = sink;
  find_base();
  timed_ = base_ != nullptr;
}

// Determines the host time of the base event, which completes between two reads of the host's clock
// that are some microseconds apart. Uses the attempt with the shortest interval.
void Tracer::find_base() {
  constexpr int kTries = 8;
  Driver &driver = device_.driver();
  const Native stream = device_.default_stream().native();
  Native tried = nullptr;
  uint64_t closest = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    if (tried == nullptr && driver.event_open(EventKind::kTimed, &tried) != kDone) break;
    const uint64_t before = monotonic_ns();
    if (driver.event_record(tried, stream) != kDone) break;
    if (driver.event_synchronize(tried) != kDone) break;
    const uint64_t passed = monotonic_ns() - before;
    if (passed >= closest) continue;
    closest = passed;
    base_ns_ = before + passed / 2;
    std::swap(base_, tried);
  }
  if (tried != nullptr) device_.check_for_loss(driver.event_close(tried));
}

void Tracer::close() {
  if (!on()) return;
  collect();
  sink_ = nullptr;
  Driver &driver = device_.driver();
  for (TracedWork **list : {&first_, &free_records_}) {
    while (*list != nullptr) {
      TracedWork *const work = *list;
      *list = work->next;
      for (const Native event : {work->begin, work->end}) {
        if (event != nullptr) device_.check_for_loss(driver.event_close(event));
      }
      if (work->stream != nullptr) work->stream->release();
      destroy(work);
    }
  }
  last_ = nullptr;
  if (base_ != nullptr) device_.check_for_loss(driver.event_close(base_));
  base_ = nullptr;
}

// Returns a record for work. Records are reused together with their driver events,
// which can be recorded again.
TracedWork *Tracer::take_record() {
  {
    const std::lock_guard lock(mutex_);
    TracedWork *const work = free_records_;
    if (work != nullptr) {
      free_records_ = work->next;
      return work;
    }
    if (nrecords_ == kMaxPending) return nullptr;
    ++nrecords_;
  }
  auto *const work = create<TracedWork>();
  if (work == nullptr) return nullptr;
  *work = {};
  if (!timed_) return work;
  Driver &driver = device_.driver();
  for (Native *event : {&work->begin, &work->end}) {
    if (driver.event_open(EventKind::kTimed, event) != kDone) *event = nullptr;
  }
  return work;
}

void Tracer::put_back(TracedWork *work) {
  std::exchange(work->stream, nullptr)->release();
  const std::lock_guard lock(mutex_);
  work->next = free_records_;
  free_records_ = work;
}

void Tracer::count_unreported() const {
  sdk::count_unreported(*sink_, device_.context().index);
}

TracedWork *Tracer::open(Stream &stream, int32_t kind) {
  bool capturing = false;
  const bool known = stream.capturing(&capturing, nullptr) == GUF_OK;
  if (capturing) return nullptr;
  if (npending_.load(std::memory_order_relaxed) >= kOftenPending) collect();
  TracedWork *const work = known ? take_record() : nullptr;
  if (work == nullptr) {  // usually because too much work is pending
    count_unreported();
    return nullptr;
  }
  stream.retain();
  work->stream = &stream;
  guf_trace_work &facts = work->facts;
  facts = {};
  facts.struct_size = sizeof(facts);
  facts.kind = kind;
  facts.device = device_.context().index;
  facts.stream = stream.number();
  if (&stream == &device_.default_stream()) facts.flags = GUF_TRACE_DEFAULT_STREAM;
  sink_->queued(sink_->context, &facts);
  facts.begin_ns = monotonic_ns();
  const bool timed = work->begin != nullptr && work->end != nullptr;
  if (!timed || device_.driver().event_record(work->begin, stream.native()) != kDone) {
    facts.flags |= GUF_TRACE_HOST_TIME;
  }
  return work;
}

void Tracer::close(TracedWork *work, Stream &stream) {
  guf_trace_work &facts = work->facts;
  if ((facts.flags & GUF_TRACE_HOST_TIME) == 0 &&
      device_.driver().event_record(work->end, stream.native()) != kDone) {
    facts.flags |= GUF_TRACE_HOST_TIME;
  }
  if ((facts.flags & GUF_TRACE_HOST_TIME) != 0) {
    facts.end_ns = monotonic_ns();
    sink_->done(sink_->context, &facts);
    return put_back(work);
  }
  work->next = nullptr;
  npending_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  (last_ == nullptr ? first_ : last_->next) = work;
  last_ = work;
}

uint64_t Tracer::time_of(Native event, bool *out_known) {
  float milliseconds = 0;
  *out_known = device_.driver().event_elapsed(base_, event, &milliseconds) == kDone;
  return base_ns_ + static_cast<uint64_t>(static_cast<int64_t>(double{milliseconds} * 1e6));
}

// The clocks of the host and the device agree only to within a few microseconds. The times are
// corrected so that work begins neither before it is queued nor before the previous work of its
// stream ends.
void Tracer::keep_order(TracedWork &work) {
  guf_trace_work &facts = work.facts;
  if (facts.begin_ns < facts.queued_ns) {
    const uint64_t late = facts.queued_ns - facts.begin_ns;
    base_ns_ += late;
    facts.begin_ns += late;
    facts.end_ns += late;
  }
  facts.begin_ns = std::max(facts.begin_ns, work.stream->traced_until_ns);
  facts.end_ns = std::max(facts.end_ns, facts.begin_ns);
  work.stream->traced_until_ns = facts.end_ns;
}

// Reports work to the sink. Returns false if the work is not complete yet.
bool Tracer::report(TracedWork &work) {
  Driver &driver = device_.driver();
  const Code code = driver.event_query(work.end);
  if (driver.error_info(code).kind == ErrorKind::kNotReady) return false;
  guf_trace_work &facts = work.facts;
  bool began = false, ended = false;
  const uint64_t begin_ns = time_of(work.begin, &began), end_ns = time_of(work.end, &ended);
  if (code == kDone && began && ended) {
    facts.begin_ns = begin_ns;
    facts.end_ns = end_ns;
    keep_order(work);
  } else {  // on a lost device, only the time of queueing is known
    facts.flags |= GUF_TRACE_HOST_TIME;
    facts.end_ns = facts.begin_ns;
  }
  sink_->done(sink_->context, &facts);
  return true;
}

// Uses the end event of the last work as the new base event if the old base event has reached its
// age limit. No pending work may depend on the old base event.
void Tracer::move_base(TracedWork &last) {
  const guf_trace_work &facts = last.facts;
  if ((facts.flags & GUF_TRACE_HOST_TIME) != 0 || facts.end_ns < base_ns_ + kBaseLife) return;
  std::swap(base_, last.end);
  base_ns_ = facts.end_ns;
}

void Tracer::collect() {
  if (!on() || collecting_.exchange(true, std::memory_order_acquire)) return;
  const RelaxedCapture relaxed(device_.driver());
  TracedWork *taken = nullptr, *taken_last = nullptr;
  {
    const std::lock_guard lock(mutex_);
    taken = std::exchange(first_, nullptr);
    taken_last = std::exchange(last_, nullptr);
  }
  TracedWork *kept = nullptr, *kept_last = nullptr;
  while (taken != nullptr) {
    TracedWork *const work = taken;
    taken = work->next;
    work->next = nullptr;
    if (!report(*work)) {
      (kept_last == nullptr ? kept : kept_last->next) = work;
      kept_last = work;
      continue;
    }
    const bool alone = npending_.fetch_sub(1, std::memory_order_relaxed) == 1;
    if (alone && kept == nullptr && work == taken_last) move_base(*work);
    put_back(work);
  }
  if (kept != nullptr) {
    const std::lock_guard lock(mutex_);
    kept_last->next = first_;
    if (first_ == nullptr) last_ = kept_last;
    first_ = kept;
  }
  collecting_.store(false, std::memory_order_release);
}

TraceSpan::TraceSpan(Stream &stream, int32_t kind) : stream_(stream) {
  Tracer &tracer = stream.device().tracer();
  if (tracer.on()) work_ = tracer.open(stream, kind);
}

void TraceSpan::end() {
  stream_.device().tracer().close(work_, stream_);
}

void TraceSpan::set_copy(uint64_t bytes, int32_t direction) {
  if (work_ == nullptr) return;
  static constexpr const char *kNames[] = {"copy H2D", "copy D2H", "copy D2D"};
  work_->facts.bytes = bytes;
  work_->facts.direction = direction;
  std::snprintf(work_->facts.name, sizeof(work_->facts.name), "%s", kNames[direction]);
}

void TraceSpan::set_launch(Native function, const LaunchGrid &shape, const char *stem,
                           const char *entry) {
  if (work_ == nullptr) return;
  guf_trace_work &facts = work_->facts;
  facts.flags |= GUF_TRACE_GRID;
  facts.grid[0] = shape.blocks;
  facts.block[0] = shape.threads;
  facts.grid[1] = shape.blocks_y;
  facts.grid[2] = shape.blocks_z;
  facts.block[1] = shape.threads_y;
  facts.block[2] = shape.threads_z;
  facts.shared_bytes = shape.shared_bytes;
  FunctionAttributes attributes = {};
  const Code known = stream_.device().driver().function_attributes(function, &attributes);
  if (known == kDone && attributes.registers != 0) {
    facts.flags |= GUF_TRACE_FUNCTION;
    facts.registers = attributes.registers;
    facts.static_shared_bytes = attributes.shared_bytes;
    facts.local_bytes = attributes.local_bytes;
  }
  std::snprintf(facts.kernel, sizeof(facts.kernel), "%s%s", stem == nullptr ? "" : stem, entry);
}

}  // namespace gufunc::gpu
