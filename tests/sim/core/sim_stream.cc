// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_stream.h"

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

}  // namespace sim
