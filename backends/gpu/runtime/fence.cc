// SPDX-License-Identifier: Apache-2.0
// A fence returns to the pool when no block waits for it.
// Its driver event can then be recorded again.
#include "backends/gpu/runtime/fence.h"

#include "backends/gpu/runtime/gpu_device.h"

namespace gufunc::gpu {

guf_status FencePool::acquire(Native stream, Fence **out, guf_error *error) {
  Fence *fence = nullptr;
  {
    const std::lock_guard lock(mutex_);
    fence = first_;
    if (fence != nullptr) first_ = fence->next;
  }
  if (fence == nullptr) {
    fence = create<Fence>();
    if (fence == nullptr) return fail_memory(error, "an event");
    const guf_status status =
        device_.check(device_.driver().event_open(EventKind::kUntimed, &fence->event),
                      "creating an event", error);
    if (status != GUF_OK) {
      destroy(fence);
      return status;
    }
  }
  fence->users = 0;
  fence->signalled = false;
  const guf_status status = device_.check(device_.driver().event_record(fence->event, stream),
                                          "recording an event", error);
  if (status != GUF_OK) {
    release(fence);
    return status;
  }
  *out = fence;
  return GUF_OK;
}

void FencePool::release(Fence *fence) {
  const std::lock_guard lock(mutex_);
  fence->next = first_;
  first_ = fence;
}

Code FencePool::query(Fence &fence) {
  if (fence.signalled) return kDone;
  const Code code = device_.driver().event_query(fence.event);
  fence.signalled = code == kDone;
  return code;
}

guf_status FencePool::poll(Fence &fence, guf_error *error) {
  const Code code = query(fence);
  if (code == kDone) return GUF_OK;
  if (device_.driver().error_info(code).kind == ErrorKind::kNotReady) return GUF_NOT_READY;
  return device_.check(code, "querying an event", error);
}

void FencePool::close() {
  const std::lock_guard lock(mutex_);
  while (first_ != nullptr) {
    Fence *fence = first_;
    first_ = fence->next;
    device_.check_for_loss(device_.driver().event_close(fence->event));
    destroy(fence);
  }
}

}  // namespace gufunc::gpu
