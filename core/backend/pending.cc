// SPDX-License-Identifier: Apache-2.0
// A list of pending work: an event, recorded after the work, and the objects that the work uses.
#include "core/backend/pending.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/fork.h"

namespace gufunc::backend {
namespace {

struct Flight {
  Device *device;
  void *event;
  uint32_t fork_epoch;
  std::vector<base::Ref<base::Object>> objects;
  Flight *next;
  std::atomic<uint32_t> users{1};  // the list, and threads that wait for it
};

void drop(Flight *flight) {
  if (flight->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  flight->device->backend->api.event_close(flight->event);
  delete flight;
}

struct Sky {
  base::ForkLock lock;
  std::atomic<Flight *> first{nullptr};
};
constinit Sky sky;

void add(Flight *flight) {
  const std::lock_guard<base::ForkLock> hold(sky.lock);
  flight->next = sky.first.load(std::memory_order_relaxed);
  sky.first.store(flight, std::memory_order_release);
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

// Fallback if there is no memory to track the work. Polls, because stream_synchronize would clear a
// failure that the program must receive.
void wait_until_idle(Stream &stream) {
  ErrorRoom room(nullptr);
  while (stream.device->backend->api.stream_query(stream.native, room.get()) == GUF_NOT_READY) {
    sched_yield();
  }
}

// Returns whether the work is done. In a forked child, work of the parent stays pending forever,
// because the child cannot query its event.
bool landed(const Flight &flight) {
  if (flight.fork_epoch != base::fork_epoch()) return false;
  // Events of a device must not be queried while one of its streams is being captured.
  if (flight.device->captures.load(std::memory_order_acquire) != 0) return false;
  ErrorRoom room(nullptr);
  return flight.device->backend->api.event_query(flight.event, room.get()) != GUF_NOT_READY;
}

// Returns whether the work may use the array's bytes. The operands of a plan or a graph are
// unknown.
bool may_touch(const Flight &flight, const array::Array &array) {
  for (const base::Ref<base::Object> &object : flight.objects) {
    if (object->kind() == base::Kind::kPlan || object->kind() == base::Kind::kGraph) return true;
    const auto *const other = dynamic_cast<const array::Array *>(object.get());
    if (other == nullptr) continue;
    if (other->span().first < array.span().end && array.span().first < other->span().end) {
      return true;
    }
  }
  return false;
}

// The pending work that one thread waits for.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;
  ~Waiting() {
    for (Flight *const flight : flights_) drop(flight);
  }

  // Errors  GUF_E_CAPTURE <= a stream of the device is being captured, which forbids queries
  guf_status collect(const array::Array &array, guf_error *error) {
    const std::lock_guard<base::ForkLock> hold(sky.lock);
    for (Flight *flight = sky.first.load(std::memory_order_relaxed); flight != nullptr;
         flight = flight->next) {
      if (flight->fork_epoch != base::fork_epoch() || !may_touch(*flight, array)) continue;
      const Device &device = *flight->device;
      if (!device.host_memory && device.captures.load(std::memory_order_acquire) != 0) {
        return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone,
                          "the array is in use on %s, which cannot be waited for while a stream of "
                          "it is captured",
                          device.spec.c_str());
      }
      flights_.push_back(flight);
      flight->users.fetch_add(1, std::memory_order_relaxed);
    }
    return GUF_OK;
  }

  // Failures of the work stay with its stream.
  guf_status wait(uint64_t timeout_ns) const {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    for (const Flight *const flight : flights_) {
      ErrorRoom room(nullptr);
      const auto gone =
          static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
      const uint64_t left =
          timeout_ns == UINT64_MAX ? timeout_ns : timeout_ns - std::min(timeout_ns, gone);
      const guf_status status =
          flight->device->backend->api.event_synchronize(flight->event, left, room.get());
      if (status == GUF_TIMEOUT) return status;
    }
    return GUF_OK;
  }

 private:
  std::vector<Flight *> flights_;
};

}  // namespace

void wait_quietly(Stream &stream) {
  if (stream.capture != nullptr) return;  // captured work does not run
  wait_for_order(stream, UINT64_MAX);
}

guf_status wait_for_order(Stream &stream, uint64_t timeout_ns) {
  const guf_backend_api &api = stream.device->backend->api;
  ErrorRoom room(nullptr);
  if (api.stream_query(stream.native, room.get()) != GUF_NOT_READY) return GUF_OK;
  void *event = nullptr;
  if (!record_event(stream, &event)) {
    wait_until_idle(stream);
    return GUF_OK;
  }
  const guf_status status = api.event_synchronize(event, timeout_ns, room.get());
  api.event_close(event);
  return status == GUF_TIMEOUT ? status : guf_status{GUF_OK};
}

namespace {

// Leaks the reference if memory runs out: captured work is only recorded, so there is nothing to
// wait for.
void keep_in_capture(Capture &capture, base::Ref<base::Object> object) noexcept {
  try {
    capture.kept.push_back(std::move(object));
  } catch (const std::bad_alloc &) {
    object.release();
  }
}

}  // namespace

void keep_until_done(Stream &stream, base::Object &object) noexcept {
  ErrorRoom room(nullptr);
  if (stream.capture != nullptr)
    return keep_in_capture(*stream.capture, base::Ref<base::Object>::share(&object));
  if (stream.device->backend->api.stream_query(stream.native, room.get()) != GUF_NOT_READY) return;
  std::vector<base::Ref<base::Object>> objects;
  try {
    objects.push_back(base::Ref<base::Object>::share(&object));
  } catch (const std::bad_alloc &) {
    return wait_until_idle(stream);
  }
  keep_until_done(stream, std::move(objects));
}

void keep_until_done(Stream &stream, std::vector<base::Ref<base::Object>> objects) noexcept {
  if (stream.capture != nullptr) {
    for (base::Ref<base::Object> &object : objects)
      keep_in_capture(*stream.capture, std::move(object));
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
  add(flight);
}

void collect_pending() {
  if (sky.first.load(std::memory_order_acquire) == nullptr) return;
  Flight *done = nullptr;
  {
    const std::lock_guard<base::ForkLock> hold(sky.lock);
    Flight *staying = nullptr;
    for (Flight *flight = sky.first.load(std::memory_order_relaxed); flight != nullptr;) {
      Flight *const next = flight->next;
      Flight *&list = landed(*flight) ? done : staying;
      flight->next = list;
      list = flight;
      flight = next;
    }
    sky.first.store(staying, std::memory_order_release);
  }
  while (done != nullptr) drop(std::exchange(done, done->next));
}

guf_status wait_for_array(const array::Array &array, uint64_t timeout_ns, guf_error *error) {
  if (sky.first.load(std::memory_order_acquire) == nullptr) return GUF_OK;
  Waiting waiting;
  GUF_TRY(waiting.collect(array, error));
  return waiting.wait(timeout_ns);
}

}  // namespace gufunc::backend
