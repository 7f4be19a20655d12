// SPDX-License-Identifier: Apache-2.0
// The list of pending work. An entry consists of an event, which was recorded after the work, and
// the objects that the work uses.
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

struct PendingWork {
  Device *device;
  void *event;
  uint32_t fork_epoch;
  std::vector<base::Ref<base::Object>> objects;
  PendingWork *next;
  std::atomic<uint32_t> users{1};  // references: one of the list, one of each waiting thread
};

void drop(PendingWork *work) {
  if (work->users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  work->device->backend->api.event_close(work->event);
  delete work;
}

struct PendingList {
  base::ForkLock lock;
  std::atomic<PendingWork *> first{nullptr};
};
constinit PendingList pending_list;

void add(PendingWork *work) {
  const std::lock_guard<base::ForkLock> hold(pending_list.lock);
  work->next = pending_list.first.load(std::memory_order_relaxed);
  pending_list.first.store(work, std::memory_order_release);
}

bool open_recorded_event(Stream &stream, void **out_event) {
  const guf_backend_api &api = stream.device->backend->api;
  ErrorRecord record(nullptr);
  void *event = nullptr;
  if (api.event_open(stream.device->native, &event, record.get()) != GUF_OK) return false;
  if (api.event_record(event, stream.native, record.get()) == GUF_OK) {
    *out_event = event;
    return true;
  }
  api.event_close(event);
  return false;
}

// Polls until the stream is idle. Used if there is no memory to track the work. stream_synchronize
// is not used, because it would clear a failure that must be reported to the program.
void wait_until_idle(Stream &stream) {
  ErrorRecord record(nullptr);
  while (stream.device->backend->api.stream_query(stream.native, record.get()) == GUF_NOT_READY) {
    sched_yield();
  }
}

// Returns whether the work is done. In a forked child, the parent's work stays pending forever,
// because the child cannot query the event.
bool is_done(const PendingWork &work) {
  if (work.fork_epoch != base::fork_epoch()) return false;
  // Events of a device must not be queried while a stream of the device is being captured.
  if (work.device->captures.load(std::memory_order_acquire) != 0) return false;
  ErrorRecord record(nullptr);
  return work.device->backend->api.event_query(work.event, record.get()) != GUF_NOT_READY;
}

// Returns whether the work may access the array. The operands of plans and graphs are not known, so
// the result is true for them.
bool may_touch(const PendingWork &work, const array::Array &array) {
  for (const base::Ref<base::Object> &object : work.objects) {
    if (object->kind() == base::Kind::kPlan || object->kind() == base::Kind::kGraph) return true;
    const auto *const other = dynamic_cast<const array::Array *>(object.get());
    if (other == nullptr) continue;
    if (other->span().first < array.span().end && array.span().first < other->span().end) {
      return true;
    }
  }
  return false;
}

// The pending work for which one thread waits.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;
  ~Waiting() {
    for (PendingWork *const work : waited_for_) drop(work);
  }

  // Collects the work that uses the array.
  // Errors  GUF_E_CAPTURE <= a stream of the device is being captured, which forbids queries
  guf_status collect(const array::Array &array, guf_error *error) {
    const std::lock_guard<base::ForkLock> hold(pending_list.lock);
    for (PendingWork *work = pending_list.first.load(std::memory_order_relaxed); work != nullptr;
         work = work->next) {
      if (work->fork_epoch != base::fork_epoch() || !may_touch(*work, array)) continue;
      const Device &device = *work->device;
      if (!device.host_memory && device.captures.load(std::memory_order_acquire) != 0) {
        return base::fail(error, GUF_E_CAPTURE, base::kNone, base::kNone,
                          "the array is in use on %s, which cannot be waited for while a stream of "
                          "it is captured",
                          device.spec.c_str());
      }
      waited_for_.push_back(work);
      work->users.fetch_add(1, std::memory_order_relaxed);
    }
    return GUF_OK;
  }

  // Waits for the collected work. Does not report failures of the work, because the stream of the
  // work reports them.
  guf_status wait(uint64_t timeout_ns) const {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    for (const PendingWork *const work : waited_for_) {
      ErrorRecord record(nullptr);
      const auto gone =
          static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
      const uint64_t left =
          timeout_ns == UINT64_MAX ? timeout_ns : timeout_ns - std::min(timeout_ns, gone);
      const guf_status status =
          work->device->backend->api.event_synchronize(work->event, left, record.get());
      if (status == GUF_TIMEOUT) return status;
    }
    return GUF_OK;
  }

 private:
  std::vector<PendingWork *> waited_for_;
};

// Retains the object until the capture ends. If memory is exhausted, leaks the reference, because
// waiting is not possible: captured work is recorded but does not run.
void retain_in_capture(Capture &capture, base::Ref<base::Object> object) noexcept {
  try {
    capture.kept.push_back(std::move(object));
  } catch (const std::bad_alloc &) {
    object.leak();
  }
}

}  // namespace

void wait_quietly(Stream &stream) {
  if (stream.capture != nullptr) return;  // captured work does not run
  wait_for_stream(stream, UINT64_MAX);
}

guf_status wait_for_stream(Stream &stream, uint64_t timeout_ns) {
  const guf_backend_api &api = stream.device->backend->api;
  ErrorRecord record(nullptr);
  if (api.stream_query(stream.native, record.get()) != GUF_NOT_READY) return GUF_OK;
  void *event = nullptr;
  if (!open_recorded_event(stream, &event)) {
    wait_until_idle(stream);
    return GUF_OK;
  }
  const guf_status status = api.event_synchronize(event, timeout_ns, record.get());
  api.event_close(event);
  return status == GUF_TIMEOUT ? status : guf_status{GUF_OK};
}

void retain_until_done(Stream &stream, base::Object &object) noexcept {
  ErrorRecord record(nullptr);
  if (stream.capture != nullptr)
    return retain_in_capture(*stream.capture, base::Ref<base::Object>::share(&object));
  if (stream.device->backend->api.stream_query(stream.native, record.get()) != GUF_NOT_READY)
    return;
  std::vector<base::Ref<base::Object>> objects;
  try {
    objects.push_back(base::Ref<base::Object>::share(&object));
  } catch (const std::bad_alloc &) {
    return wait_until_idle(stream);
  }
  retain_until_done(stream, std::move(objects));
}

void retain_until_done(Stream &stream, std::vector<base::Ref<base::Object>> objects) noexcept {
  if (stream.capture != nullptr) {
    for (base::Ref<base::Object> &object : objects)
      retain_in_capture(*stream.capture, std::move(object));
    return;
  }
  ErrorRecord record(nullptr);
  if (stream.device->backend->api.stream_query(stream.native, record.get()) != GUF_NOT_READY)
    return;
  auto *const work =
      new (std::nothrow) PendingWork{stream.device, nullptr, stream.fork_epoch, {}, {}};
  if (work == nullptr || !open_recorded_event(stream, &work->event)) {
    wait_until_idle(stream);
    delete work;
    return;
  }
  work->objects = std::move(objects);
  add(work);
}

void collect_pending() {
  if (pending_list.first.load(std::memory_order_acquire) == nullptr) return;
  PendingWork *done = nullptr;
  {
    const std::lock_guard<base::ForkLock> hold(pending_list.lock);
    PendingWork *staying = nullptr;
    for (PendingWork *work = pending_list.first.load(std::memory_order_relaxed); work != nullptr;) {
      PendingWork *const next = work->next;
      PendingWork *&list = is_done(*work) ? done : staying;
      work->next = list;
      list = work;
      work = next;
    }
    pending_list.first.store(staying, std::memory_order_release);
  }
  while (done != nullptr) drop(std::exchange(done, done->next));
}

guf_status wait_for_array(const array::Array &array, uint64_t timeout_ns, guf_error *error) {
  if (pending_list.first.load(std::memory_order_acquire) == nullptr) return GUF_OK;
  Waiting waiting;
  GUF_TRY(waiting.collect(array, error));
  return waiting.wait(timeout_ns);
}

}  // namespace gufunc::backend
