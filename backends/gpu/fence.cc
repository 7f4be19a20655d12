// SPDX-License-Identifier: Apache-2.0
// Guards are put back when nobody waits for them; a driver's event can be recorded anew then.
#include "backends/gpu/guard.h"

#include "backends/gpu/gpu_device.h"

namespace gufunc::gpu {

guf_status GuardShelf::take(Native stream, Guard **out, guf_error *error) {
  Guard *guard = nullptr;
  {
    const std::lock_guard lock(mutex_);
    guard = first_;
    if (guard != nullptr) first_ = guard->next;
  }
  if (guard == nullptr) {
    guard = create<Guard>();
    if (guard == nullptr) return fail_memory(error, "an event");
    const guf_status status = device_.check(
        device_.driver().event_open(EventKind::kOrder, &guard->event), "making an event", error);
    if (status != GUF_OK) {
      destroy(guard);
      return status;
    }
  }
  guard->users = 0;
  guard->passed = false;
  const guf_status status = device_.check(device_.driver().event_record(guard->event, stream),
                                          "recording an event", error);
  if (status != GUF_OK) {
    put(guard);
    return status;
  }
  *out = guard;
  return GUF_OK;
}

void GuardShelf::put(Guard *guard) {
  const std::lock_guard lock(mutex_);
  guard->next = first_;
  first_ = guard;
}

Code GuardShelf::ask(Guard &guard) {
  if (guard.passed) return kDone;
  const Code code = device_.driver().event_query(guard.event);
  guard.passed = code == kDone;
  return code;
}

guf_status GuardShelf::look(Guard &guard, guf_error *error) {
  const Code code = ask(guard);
  if (code == kDone) return GUF_OK;
  if (device_.driver().meaning(code).sense == Sense::kNotReady) return GUF_NOT_READY;
  return device_.check(code, "asking for an event", error);
}

void GuardShelf::close() {
  const std::lock_guard lock(mutex_);
  while (first_ != nullptr) {
    Guard *guard = first_;
    first_ = guard->next;
    device_.note(device_.driver().event_close(guard->event));
    destroy(guard);
  }
}

}  // namespace gufunc::gpu
