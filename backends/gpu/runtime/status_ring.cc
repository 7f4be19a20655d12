// SPDX-License-Identifier: Apache-2.0
// The status of a request that may fail costs three small driver operations:
// a memset, a copy and a host call.
#include "backends/gpu/runtime/status_ring.h"

#include <sched.h>

#include <cstdio>
#include <cstring>

#include "backends/gpu/runtime/gpu_device.h"

namespace gufunc::gpu {
namespace {

struct FpFlagText {
  uint32_t flag;
  const char *text;
};
constexpr FpFlagText kFpFlagTexts[] = {
    {GUF_FP_DIVIDE | GUF_FP_INTEGER_DIVIDE, "divide by zero"},
    {GUF_FP_OVERFLOW, "overflow"},
    {GUF_FP_UNDERFLOW, "underflow"},
    {GUF_FP_INVALID, "invalid value"},
};

constexpr uint32_t kSlots = 256;

}  // namespace

struct StatusChunk {
  StatusRing *ring;
  StatusChunk *next;
  uint64_t device_address, host_address;
  std::atomic<uint32_t> inside;      // number of running checks
  std::atomic<uint32_t> references;  // by the ring and by slots that outlive it
  StatusSlot slots[kSlots];

  void drop_references(uint32_t count) {
    if (references.fetch_sub(count, std::memory_order_acq_rel) == count) host_free(this);
  }
};

StatusSlot *StatusRing::pop_free() {
  const std::lock_guard lock(mutex_);
  if (free_ == nullptr) free_ = returned_.exchange(nullptr, std::memory_order_acquire);
  StatusSlot *const slot = free_;
  if (slot != nullptr) free_ = slot->next;
  return slot;
}

void StatusRing::release(StatusSlot *slot) {
  const std::lock_guard lock(mutex_);
  slot->next = free_;
  free_ = slot;
}

guf_status StatusRing::acquire_any(StatusSlot **out, guf_error *error) {
  while ((*out = pop_free()) == nullptr) GUF_BACKEND_TRY(grow(error));
  return GUF_OK;
}

guf_status StatusRing::reserve(guf_error *error) {
  {
    const std::lock_guard lock(mutex_);
    if (chunks_ != nullptr) return GUF_OK;
  }
  return grow(error);
}

guf_status StatusRing::acquire(Stream &stream, const StatusRequest &request, StatusSlot **out,
                               guf_error *error) {
  bool captured = false;
  GUF_BACKEND_TRY(stream.capturing(&captured, error));
  const uint64_t capture = captured ? device_.captures().of(stream) : 0;
  if (captured && request.fp_status != nullptr &&
      (request.fp_status->report | request.fp_status->fail) != 0) {
    return fail(error, GUF_E_CAPTURE,
                "the stream is being captured: work that detects floating-point flags cannot be "
                "part of a graph");
  }
  if (captured && capture == 0) {
    return fail(error, GUF_E_CAPTURE,
                "the stream's capture was not begun by gufunc: work that may fail cannot be part "
                "of its graph");
  }
  StatusSlot *slot = nullptr;
  GUF_BACKEND_TRY(acquire_any(&slot, error));
  slot->capture = capture;
  const guf_status status =
      device_.check(device_.driver().set(slot->device_address, 0, 4, 1, stream.native()),
                    "clearing a status word", error);
  if (status != GUF_OK) {
    release(slot);
    return status;
  }
  *out = slot;
  return GUF_OK;
}

// Allocates a chunk of words. The mutex must not be locked, so that other requests can continue.
// Uses ordinary allocations, which all streams can use immediately.
guf_status StatusRing::grow(guf_error *error) {
  void *const memory = host_alloc(sizeof(StatusChunk), alignof(StatusChunk));
  if (memory == nullptr) return fail_memory(error, "status words");
  std::memset(memory, 0, sizeof(StatusChunk));
  auto *const chunk = new (memory) StatusChunk;
  const RelaxedCapture relaxed(device_.driver());
  Driver &driver = device_.driver();
  uint64_t device_address = 0, host_address = 0;
  constexpr uint64_t kBytes = kSlots * sizeof(uint32_t);
  guf_status status =
      device_.check(driver.allocate(kBytes, &device_address), "allocating status words", error);
  if (status == GUF_OK) {
    status = device_.check(driver.host_allocate(kBytes, HostMemory::kPinned, &host_address),
                           "allocating status words", error);
    status = as_host_memory(status, error);
    if (status != GUF_OK) device_.check_for_loss(driver.release(device_address));
  }
  if (status != GUF_OK) {
    host_free(chunk);
    return status;
  }
  chunk->device_address = device_address;
  chunk->host_address = host_address;
  chunk->ring = this;
  chunk->inside.store(0, std::memory_order_relaxed);
  chunk->references.store(1 + kSlots, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  for (uint32_t i = 0; i < kSlots; ++i) {
    StatusSlot &slot = *new (&chunk->slots[i]) StatusSlot();
    slot.chunk = chunk;
    slot.device_address = device_address + i * sizeof(uint32_t);
    slot.host = reinterpret_cast<uint32_t *>(host_address) + i;
    slot.next = free_;
    free_ = &slot;
  }
  chunk->next = chunks_;
  chunks_ = chunk;
  return GUF_OK;
}

// If the word's capture has ended in the meantime, an unknown graph may use the word, so the word
// stays in use until the ring is closed.
guf_status StatusRing::queue_check(StatusSlot *slot, Stream &stream, const StatusRequest &request,
                                   guf_error *error) {
  if (__builtin_expect(slot->capture == 0, 1)) {
    return queue_slot_check(slot, slot->device_address, stream, request, error);
  }
  slot->failure = request.failure;
  slot->launch = request.launch;
  if (device_.captures().add(slot->capture, slot)) return GUF_OK;
  return fail(error, GUF_E_CAPTURE, "the stream's capture was ended by another thread");
}

guf_status StatusRing::queue_graph_checks(const StatusSlot *words, Stream &stream, uint64_t launch,
                                          guf_error *error) {
  for (; words != nullptr; words = words->next) {
    StatusSlot *slot = nullptr;
    GUF_BACKEND_TRY(acquire_any(&slot, error));
    // No kernel writes to the device word of this slot; only its host word receives a copy. If the
    // copy was not queued, the slot is free again. A queued copy may still write to the host word,
    // so the slot then stays in use.
    const guf_status copied = queue_copy(slot, words->device_address, stream, error);
    if (copied != GUF_OK) {
      release(slot);
      return copied;
    }
    const StatusRequest request = {nullptr, words->failure, words->launch == 0 ? 0 : launch};
    GUF_BACKEND_TRY(queue_host_check(slot, stream, request, error));
  }
  return GUF_OK;
}

void StatusRing::recycle(StatusSlot *words, Stream *stream) {
  while (words != nullptr) {
    StatusSlot *const slot = words;
    words = slot->next;
    if (stream == nullptr) {
      release(slot);
    } else {
      queue_slot_check(slot, slot->device_address, *stream, StatusRequest(), nullptr);
    }
  }
}

// If this function fails, the slot stays in use until the ring is closed, because kernels may still
// write to its device word.
guf_status StatusRing::queue_slot_check(StatusSlot *slot, uint64_t word, Stream &stream,
                                        const StatusRequest &request, guf_error *error) {
  GUF_BACKEND_TRY(queue_copy(slot, word, stream, error));
  return queue_host_check(slot, stream, request, error);
}

// Copies a device word to the host word of the slot.
guf_status StatusRing::queue_copy(StatusSlot *slot, uint64_t word, Stream &stream,
                                  guf_error *error) {
  const Code code = device_.driver().copy(reinterpret_cast<uint64_t>(slot->host), word,
                                          sizeof(uint32_t), Direction::kToHost, stream.native());
  return device_.check(code, "copying a status word", error);
}

// Makes a thread of the driver examine the host word of the slot.
guf_status StatusRing::queue_host_check(StatusSlot *slot, Stream &stream,
                                        const StatusRequest &request, guf_error *error) {
  slot->fp_status = request.fp_status == nullptr ? guf_fp_status{} : *request.fp_status;
  std::memset(slot->name, 0, sizeof(slot->name));
  if (request.fp_status != nullptr) {
    std::memcpy(slot->name, request.fp_status->name,
                strnlen(request.fp_status->name, sizeof(slot->name) - 1));
  }
  slot->failure = request.failure;
  slot->launch = request.launch;
  stream.retain();
  stream.begin_fallible_work();
  slot->stream.store(&stream, std::memory_order_release);
  const guf_status status =
      device_.check(device_.driver().stream_call(stream.native(), check_slot, slot),
                    "queueing the check of a status word", error);
  if (status != GUF_OK) {
    slot->stream.store(nullptr, std::memory_order_release);
    stream.end_fallible_work();
    stream.release();
  }
  return status;
}

// Examines a word. Runs on a thread of the driver, so this function must not call the driver, and
// must not lock a mutex that is locked during a driver call.
void StatusRing::check_slot(void *argument) {
  StatusSlot &slot = *static_cast<StatusSlot *>(argument);
  StatusChunk &chunk = *slot.chunk;
  chunk.inside.fetch_add(1);
  Stream *const stream = slot.stream.exchange(nullptr);
  if (stream == nullptr) {  // the ring is closed
    chunk.inside.fetch_sub(1);
    return chunk.drop_references(1);
  }
  const uint32_t found = *slot.host;
  if (found != 0) report(slot, found, *stream);
  stream->end_fallible_work();
  stream->release();
  StatusRing &ring = *chunk.ring;
  slot.next = ring.returned_.load(std::memory_order_relaxed);
  while (!ring.returned_.compare_exchange_weak(slot.next, &slot, std::memory_order_release,
                                               std::memory_order_relaxed)) {
  }
  chunk.inside.fetch_sub(1);
}

void StatusRing::report(const StatusSlot &slot, uint32_t found, Stream &stream) {
  if (slot.launch == 0) return;
  Failure failure;
  failure.launch = slot.launch;
  if ((found & kStatusFailed) != 0) {
    failure.status = GUF_E_VALUE;
    if (slot.failure != nullptr) {
      std::snprintf(failure.message, sizeof(failure.message), "%s", slot.failure);
    } else {
      std::snprintf(failure.message, sizeof(failure.message), "a loop failed with status %d",
                    GUF_E_VALUE);
    }
    return stream.keep(failure);
  }
  if ((found & slot.fp_status.report) != 0) {
    __atomic_fetch_or(slot.fp_status.flags, found & slot.fp_status.report, __ATOMIC_RELEASE);
  }
  for (const FpFlagText &row : kFpFlagTexts) {
    if ((found & slot.fp_status.fail & row.flag) == 0) continue;
    failure.status = GUF_E_FLOATING_POINT;
    std::snprintf(failure.message, sizeof(failure.message), "%s encountered in %s", row.text,
                  slot.name);
    return stream.keep(failure);
  }
}

void StatusRing::close() {
  while (chunks_ != nullptr) {
    StatusChunk *const chunk = chunks_;
    chunks_ = chunk->next;
    uint32_t ours = 1;
    for (StatusSlot &slot : chunk->slots) {
      Stream *const stream = slot.stream.exchange(nullptr);
      if (stream == nullptr) {
        ++ours;
        continue;
      }
      stream->end_fallible_work();
      stream->release();
    }
    while (chunk->inside.load() != 0) sched_yield();
    device_.check_for_loss(device_.driver().release(chunk->device_address));
    device_.check_for_loss(device_.driver().host_release(chunk->host_address));
    chunk->drop_references(ours);
  }
  free_ = nullptr;
  returned_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace gufunc::gpu
