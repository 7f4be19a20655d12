// SPDX-License-Identifier: Apache-2.0
// A part has at most 4 MiB, which is large enough to hide the few microseconds that a call
// of the driver takes, and small enough to stay in a cache.
#include "backends/gpu/runtime/staged_copy.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "backends/gpu/runtime/gpu_device.h"

namespace gufunc::gpu {
namespace {

constexpr uint64_t kPartBytes = uint64_t{4} << 20;

enum : uint32_t { kWaiting, kCopying, kForgotten };

// Protects the lists of all devices. The mutex outlives the devices, because a lost device may
// never complete its copies.
constinit std::mutex lists;

}  // namespace

StagedCopy *StagedCopies::begin() {
  auto *copy = create<StagedCopy>();
  if (copy == nullptr) return nullptr;
  copy->owner = this;
  copy->references.store(1, std::memory_order_relaxed);
  copy->state.store(kWaiting, std::memory_order_relaxed);
  const std::lock_guard lock(lists);
  copy->previous = nullptr;
  copy->next = first_;
  if (first_ != nullptr) first_->previous = copy;
  first_ = copy;
  return copy;
}

void StagedCopies::release(StagedCopy *copy) {
  if (copy->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    const std::lock_guard lock(lists);
    if (copy->state.load(std::memory_order_relaxed) != kForgotten) {
      if (copy->previous != nullptr) {
        copy->previous->next = copy->next;
      } else {
        copy->owner->first_ = copy->next;
      }
      if (copy->next != nullptr) copy->next->previous = copy->previous;
    }
  }
  destroy(copy);
}

// Copies one part. Runs on a thread of the driver, in stream order.
// If the device is lost, copies nothing, because the caller may have freed the host memory.
void StagedCopies::copy_part(void *argument) {
  auto *copy = static_cast<StagedCopy *>(argument);
  uint32_t waiting = kWaiting;
  if (copy->state.compare_exchange_strong(waiting, kCopying, std::memory_order_acq_rel)) {
    const uint64_t bytes = copy->owner->device_.lost() ? 0 : std::min(copy->left, copy->part_bytes);
    if (copy->to_device) {
      std::memcpy(copy->staging, copy->host, bytes);
    } else {
      std::memcpy(copy->host, copy->staging, bytes);
    }
    copy->host += bytes;
    copy->left -= bytes;
    copy->state.store(kWaiting, std::memory_order_release);
  }
  release(copy);
}

guf_status StagedCopies::queue(uint64_t dst, uint64_t src, uint64_t bytes, Direction direction,
                               Stream &stream, guf_error *error) {
  Device &device = stream.device();
  MemoryPool &pinned = device.pool(Backing::kPinned);
  Block *staging = nullptr;
  GUF_BACKEND_TRY(pinned.acquire_block(std::min(bytes, kPartBytes), stream, &staging, error));
  StagedCopy *const copy = begin();
  if (copy == nullptr) {
    pinned.release_block(staging, stream);
    return fail_memory(error, "a copy");
  }
  copy->to_device = direction == Direction::kToDevice;
  copy->host = reinterpret_cast<char *>(copy->to_device ? src : dst);
  copy->staging = reinterpret_cast<char *>(staging->address);
  copy->left = bytes;
  copy->part_bytes = kPartBytes;
  const guf_status status = queue_parts(*copy, copy->to_device ? dst : src, stream, error);
  release(copy);
  pinned.release_block(staging, stream);
  return status;
}

guf_status StagedCopies::queue_parts(StagedCopy &copy, uint64_t device_address, Stream &stream,
                                     guf_error *error) {
  Device &device = stream.device();
  Driver &driver = device.driver();
  const auto staging = reinterpret_cast<uint64_t>(copy.staging);
  const bool to_device = copy.to_device;
  // The size is read here, because the driver's thread changes copy.left as soon as a part is
  // queued.
  const uint64_t bytes = copy.left;
  const auto queue_host_part = [&] {
    copy.references.fetch_add(1, std::memory_order_relaxed);
    const Code code = driver.stream_call(stream.native(), copy_part, &copy);
    if (code != kDone) copy.references.fetch_sub(1, std::memory_order_relaxed);
    return device.check(code, "queueing a staged copy", error);
  };
  for (uint64_t done = 0; done < bytes; done += kPartBytes) {
    const uint64_t part = std::min(bytes - done, kPartBytes);
    if (to_device) {
      GUF_BACKEND_TRY(queue_host_part());
      TraceSpan span(stream, GUF_TRACE_COPY);
      span.set_copy(part, GUF_COPY_HOST_TO_DEVICE);
      GUF_BACKEND_TRY(device.check(
          driver.copy(device_address + done, staging, part, Direction::kToDevice, stream.native()),
          "copying to the device", error));
    } else {
      {
        TraceSpan span(stream, GUF_TRACE_COPY);
        span.set_copy(part, GUF_COPY_DEVICE_TO_HOST);
        GUF_BACKEND_TRY(device.check(
            driver.copy(staging, device_address + done, part, Direction::kToHost, stream.native()),
            "copying from the device", error));
      }
      GUF_BACKEND_TRY(queue_host_part());
    }
  }
  return GUF_OK;
}

bool StagedCopies::idle() {
  const std::lock_guard lock(lists);
  return first_ == nullptr;
}

void StagedCopies::close() {
  const std::lock_guard lock(lists);
  for (StagedCopy *copy = first_; copy != nullptr; copy = copy->next) {
    uint32_t waiting = kWaiting;
    while (!copy->state.compare_exchange_weak(waiting, kForgotten, std::memory_order_acq_rel)) {
      waiting = kWaiting;
      sched_yield();
    }
  }
  first_ = nullptr;
}

}  // namespace gufunc::gpu
