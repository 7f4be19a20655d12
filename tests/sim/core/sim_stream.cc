// SPDX-License-Identifier: Apache-2.0
// Creates, finds and destroys streams and events, and queues copies and fills.
#include "tests/sim/core/sim_stream.h"

#include <cstring>
#include <functional>
#include <thread>

#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_device_memory.h"

namespace sim {
namespace {

std::shared_ptr<Stream> make_stream(Driver &driver, Context &context, bool blocking, unsigned flags,
                                    int priority) {
  auto stream = std::make_shared<Stream>();
  stream->context = &context;
  stream->blocking = blocking;
  stream->flags = flags;
  stream->priority = priority;
  driver.engine.add(stream);
  return stream;
}

std::shared_ptr<Stream> stream_of_thread(Driver &driver, Context &context) {
  const uint64_t thread = std::hash<std::thread::id>()(std::this_thread::get_id());
  std::shared_ptr<Stream> &stream = context.per_thread[thread];
  if (stream == nullptr) stream = make_stream(driver, context, true, 0, 0);
  return stream;
}

constexpr uint64_t kStagedBytes = 64 << 10;

// Source or destination of a copy, with the properties that it had when the copy was queued.
struct End {
  uint64_t address = 0, bytes = 0;
  uint64_t id = 0;      // allocation id, or 0 for memory of which the driver has no record
  bool arena = false;   // address in device memory, which the host cannot access
  bool mapped = false;  // address in host memory that kernels can access
};

bool in_arena(const Driver &driver, uint64_t address) {
  for (const Device &device : driver.devices) {
    if (device.arena->holds(address)) return true;
  }
  return false;
}

int make_end(Driver &driver, Side side, uint64_t address, uint64_t bytes, End *out) {
  *out = {address, bytes, 0, in_arena(driver, address)};
  if (address == 0 || (side == Side::kHost && out->arena)) return kInvalidValue;
  const Allocation *found = driver.memory.find(address);
  if (found == nullptr) {
    return side == Side::kDevice || out->arena ? kInvalidValue : kSuccess;
  }
  if (bytes > found->bytes - (address - found->address)) return kInvalidValue;
  out->id = found->id;
  out->mapped = found->mapped;
  return kSuccess;
}

// Checks the source or the destination of a copy when the copy runs. Returns a description of the
// error, or null.
const char *trouble(Driver &driver, const End &end, const Stream *stream) {
  if (end.id == 0) {
    const void *memory = reinterpret_cast<const void *>(end.address);
    return host_may_touch(memory, end.bytes) ? nullptr : "of host memory that was freed";
  }
  const Allocation *found = driver.memory.find(end.address);
  if (found == nullptr || found->id != end.id) return "of memory that has been freed";
  const Point &ready = found->ready;
  if (ready.stream != nullptr && ready.stream.get() != stream && !reached(ready)) {
    return "of memory that another stream has yet to allocate";
  }
  return nullptr;
}

int check_now(Driver &driver, const std::shared_ptr<Stream> &stream, const End &end,
              const char *what) {
  const Lock lock(driver.mutex);
  const char *text = trouble(driver, end, stream.get());
  if (text == nullptr) return kSuccess;
  violation(driver, stream->context, std::string(what) + " " + text);
  return kIllegalAddress;
}

int run_copy(Driver &driver, const std::shared_ptr<Stream> &stream, const End &to, const End &from,
             uint64_t sum) {
  int code = check_now(driver, stream, to, "a copy into a part");
  if (code == kSuccess) code = check_now(driver, stream, from, "a copy out");
  if (code != kSuccess) return code;
  const void *source = reinterpret_cast<const void *>(from.address);
  if (sum != 0 && (checksum(source, from.bytes) | 1) != sum) {
    const Lock lock(driver.mutex);
    violation(driver, stream->context,
              "the source of a copy to the device changed while the copy "
              "was pending");
    return kLaunchFailed;
  }
  // Both vendors leave the result of a copy between overlapping ranges undefined.
  if (to.address < from.address + to.bytes && from.address < to.address + to.bytes) {
    const Lock lock(driver.mutex);
    violation(driver, stream->context, "a copy between ranges that overlap");
    return kLaunchFailed;
  }
  raw_copy(reinterpret_cast<void *>(to.address), source, to.bytes);
  return kSuccess;
}

}  // namespace

int find_stream(Driver &driver, Context &current, void *handle, std::shared_ptr<Stream> *out) {
  const auto number = reinterpret_cast<uint64_t>(handle);
  if (number <= 1) {
    *out = current.legacy;
  } else if (number == 2) {
    *out = stream_of_thread(driver, current);
  } else {
    *out = driver.streams.find(handle);
  }
  return *out == nullptr ? static_cast<int>(kContextIsDestroyed) : (*out)->context->failure;
}

void *create_stream(Driver &driver, Context &context, bool blocking, unsigned flags, int priority) {
  const auto stream = make_stream(driver, context, blocking, flags, priority);
  stream->handle = driver.new_handle();
  return driver.streams.add(stream->handle, stream);
}

int destroy_stream(Driver &driver, void *handle) {
  const std::shared_ptr<Stream> stream = driver.streams.find(handle);
  if (stream == nullptr) return kContextIsDestroyed;
  if (const std::shared_ptr<Capture> capture = stream->capture; capture != nullptr) {
    capture->invalid = true;
    if (capture->origin == stream) abandon_capture(driver, capture);
  }
  // The queued work of a destroyed stream still runs.
  stream->destroyed = true;
  driver.streams.remove(handle);
  driver.engine.touch(stream);
  return kSuccess;
}

int synchronize_stream(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream) {
  const int refused = refuse_captured(stream);
  if (refused != kSuccess) return refused;
  driver.engine.wait_stream(lock, stream);
  release_over_threshold(driver);
  return stream->context->failure;
}

int query_stream(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream) {
  const int refused = refuse_captured(stream);
  if (refused != kSuccess) return refused;
  const bool done = driver.engine.query_stream(lock, stream);
  if (stream->context->failure != kSuccess) return stream->context->failure;
  return done ? kSuccess : kNotReady;
}

int synchronize_context(Driver &driver, Lock &lock, Context &context) {
  for (const auto &capture : driver.captures) {
    for (const auto &stream : capture->joined) {
      if (stream->context == &context) return refuse_captured(stream);
    }
  }
  driver.engine.wait_all(lock, &context);
  release_over_threshold(driver);
  return context.failure;
}

void *create_event(Driver &driver, Context &context, bool timing) {
  auto event = std::make_shared<Event>();
  event->handle = driver.new_handle();
  event->context = &context;
  event->timing = timing;
  return driver.events.add(event->handle, event);
}

int destroy_event(Driver &driver, void *handle) {
  return driver.events.remove(handle) ? kSuccess : kInvalidHandle;
}

int synchronize_event(Driver &driver, Lock &lock, const std::shared_ptr<Event> &event) {
  if (event->capture != nullptr) return kCapturedEvent;
  const int refused = refuse_while_capturing(driver);
  if (refused != kSuccess) return refused;
  if (event->recorded) driver.engine.wait(lock, Point(event->point));
  release_over_threshold(driver);
  return event->context->failure;
}

int query_event(Driver &driver, Lock &lock, const std::shared_ptr<Event> &event) {
  if (event->capture != nullptr) return kCapturedEvent;
  const int refused = refuse_while_capturing(driver);
  if (refused != kSuccess) return refused;
  const bool done = !event->recorded || driver.engine.query(lock, Point(event->point));
  if (event->context->failure != kSuccess) return event->context->failure;
  return done ? kSuccess : kNotReady;
}

int elapsed_time(Driver &, const Event &start, const Event &stop, float *out) {
  for (const Event *event : {&start, &stop}) {
    if (event->capture != nullptr) return kCapturedEvent;
    if (!event->timing || !event->recorded) return kInvalidHandle;
  }
  if (start.context != stop.context) return kInvalidHandle;
  if (!reached(start.point) || !reached(stop.point)) return kNotReady;
  *out = static_cast<float>(stop.milliseconds - start.milliseconds);
  return kSuccess;
}

int copy_async(Driver &driver, Lock &lock, const std::shared_ptr<Stream> &stream, void *to,
               Side to_side, const void *from, Side from_side, uint64_t bytes) {
  if (bytes == 0) return kSuccess;
  End target, source;
  int code = make_end(driver, to_side, reinterpret_cast<uint64_t>(to), bytes, &target);
  if (code != kSuccess) return code;
  code = make_end(driver, from_side, reinterpret_cast<uint64_t>(from), bytes, &source);
  if (code != kSuccess) return code;
  const bool captured = stream->capture != nullptr;
  const bool from_host = !source.arena && target.arena;
  const bool pageable = source.id == 0 || target.id == 0;
  std::shared_ptr<std::string> staged;
  uint64_t sum = 0;
  if (from_host && !captured && source.id == 0 && bytes <= kStagedBytes) {
    staged = std::make_shared<std::string>(static_cast<const char *>(from), bytes);
    source = {reinterpret_cast<uint64_t>(staged->data()), bytes, 0, false};
  } else if (from_host && !captured &&
             !driver.engine.may_be_written(source.address, bytes, source.mapped)) {
    sum = checksum(from, bytes) | 1;
  }
  Work work = {WorkKind::kCopy, [&driver, stream, target, source, staged, sum] {
                 return run_copy(driver, stream, target, source, sum);
               }};
  work.to = target.address;
  work.to_bytes = bytes;
  code = submit(driver, stream, std::move(work));
  // CUDA documents that a copy of pageable memory "might be synchronous", so the simulator
  // sometimes waits.
  if (code == kSuccess && pageable && !captured && driver.config.order == Order::kAdversarial &&
      driver.engine.random()() % 4 == 0) {
    driver.engine.wait(lock, {stream, stream->enqueued});
  }
  return code;
}

int fill_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t to, uint64_t pattern,
               unsigned pattern_bytes, uint64_t count) {
  if (count == 0) return kSuccess;
  End target;
  if (to % pattern_bytes != 0 || count > UINT64_MAX / pattern_bytes) return kInvalidValue;
  const int code = make_end(driver, Side::kDevice, to, count * pattern_bytes, &target);
  if (code != kSuccess) return code;
  return submit(driver, stream,
                {WorkKind::kFill, [&driver, stream, target, pattern, pattern_bytes, count] {
                   const int found = check_now(driver, stream, target, "a fill");
                   if (found != kSuccess) return found;
                   raw_fill(reinterpret_cast<void *>(target.address), pattern, pattern_bytes,
                            count);
                   return static_cast<int>(kSuccess);
                 }});
}

int call_async(Driver &driver, const std::shared_ptr<Stream> &stream, std::function<void()> call) {
  return submit(driver, stream, {WorkKind::kHost, [call = std::move(call)] {
                                   call();
                                   return static_cast<int>(kSuccess);
                                 }});
}

}  // namespace sim
