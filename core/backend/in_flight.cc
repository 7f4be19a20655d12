// SPDX-License-Identifier: Apache-2.0
// A list of (event, objects): an event behind the work tells when its objects may go.
#include "core/backend/in_flight.h"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <new>

#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

struct Flight {
  Device *device;
  void *event;
  uint32_t fork_epoch;
  std::vector<base::Ref<base::Object>> objects;
  Flight *next;
};

struct Sky {
  base::ForkLock lock;
  std::atomic<Flight *> first{nullptr};
};
constinit Sky sky;

void add_chain(Flight *first, Flight *last) {
  const std::lock_guard<base::ForkLock> hold(sky.lock);
  last->next = sky.first.load(std::memory_order_relaxed);
  sky.first.store(first, std::memory_order_release);
}

Flight *take_all() {
  const std::lock_guard<base::ForkLock> hold(sky.lock);
  return sky.first.exchange(nullptr, std::memory_order_acquire);
}

bool record_event(Stream &stream, void **out_event) {
  const guf_backend_api &api = stream.device->backend->api;
  ErrorRoom room(nullptr);
  void *event = nullptr;
  if (api.event_open(stream.device->native, &event, room.get()) != GUF_OK) return false;
  if (api.event_record(event, stream.native, room.get()) == GUF_OK) {
    *out_event = event;
    return true;
  }
  api.event_close(event);
  return false;
}

// The last resort when there is no memory for keeping track. Not stream_synchronize: that would
// take the failure which the program is to be told.
void wait_until_idle(Stream &stream) {
  ErrorRoom room(nullptr);
  while (stream.device->backend->api.stream_query(stream.native, room.get()) == GUF_NOT_READY) {
    sched_yield();
  }
}

// A parent's flights stay for ever in a forked child: nothing there can tell whether they landed.
bool landed(const Flight &flight) {
  if (flight.fork_epoch != base::fork_epoch()) return false;
  // Nothing may be asked of a device while a stream of it is being captured.
  if (flight.device->captures.load(std::memory_order_acquire) != 0) return false;
  ErrorRoom room(nullptr);
  return flight.device->backend->api.event_query(flight.event, room.get()) != GUF_NOT_READY;
}

}  // namespace

void wait_quietly(Stream &stream) {
  if (stream.capture != nullptr) return;  // nothing runs
  const guf_backend_api &api = stream.device->backend->api;
  void *event = nullptr;
  if (!record_event(stream, &event)) return wait_until_idle(stream);
  ErrorRoom room(nullptr);
  api.event_synchronize(event, UINT64_MAX, room.get());
  api.event_close(event);
}

void keep_until_done(Stream &stream, base::Object &object) noexcept {
  ErrorRoom room(nullptr);
  if (stream.capture != nullptr) {
    try {
      stream.capture->kept.push_back(base::Ref<base::Object>::share(&object));
    } catch (const std::bad_alloc &) {
      // Kept for ever: nothing can be waited for while it is only being recorded.
      base::Ref<base::Object>::share(&object).release();
    }
    return;
  }
  if (stream.device->backend->api.stream_query(stream.native, room.get()) != GUF_NOT_READY) return;
  std::vector<base::Ref<base::Object>> objects;
  try {
    objects.push_back(base::Ref<base::Object>::share(&object));
  } catch (const std::bad_alloc &) {
    return wait_until_idle(stream);
  }
  keep_until_done(stream, std::move(objects));
}

void keep_until_done(Stream &stream, std::vector<base::Ref<base::Object>> objects) {
  if (stream.capture != nullptr) {
    for (base::Ref<base::Object> &object : objects) {
      stream.capture->kept.push_back(std::move(object));
    }
    return;
  }
  ErrorRoom room(nullptr);
  if (stream.device->backend->api.stream_query(stream.native, room.get()) != GUF_NOT_READY) return;
  auto *const flight = new (std::nothrow) Flight{stream.device, nullptr, stream.fork_epoch, {}, {}};
  if (flight == nullptr || !record_event(stream, &flight->event)) {
    wait_until_idle(stream);
    delete flight;
    return;
  }
  flight->objects = std::move(objects);
  add_chain(flight, flight);
}

void reap() {
  if (sky.first.load(std::memory_order_acquire) == nullptr) return;
  Flight *staying = nullptr;
  Flight *last = nullptr;
  for (Flight *flight = take_all(); flight != nullptr;) {
    Flight *const next = flight->next;
    if (landed(*flight)) {
      flight->device->backend->api.event_close(flight->event);
      delete flight;
    } else {
      flight->next = staying;
      staying = flight;
      if (last == nullptr) last = flight;
    }
    flight = next;
  }
  if (staying != nullptr) add_chain(staying, last);
}

}  // namespace gufunc::backend
