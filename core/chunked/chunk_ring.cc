// SPDX-License-Identifier: Apache-2.0
// The ring of pending chunks. While the device computes one chunk, the next chunk is
// copied in and the previous chunk is copied out. Only `finish` waits, for the oldest
// chunk. The cpu's threads pack strided operands into page-locked memory and swap bytes. The copies
// to and from the device access page-locked memory only.
#include "core/chunked/chunk_ring.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/memory/transfer.h"
#include "core/plugin/find_device.h"

namespace gufunc::chunked {
namespace {

constexpr uint64_t kAlignment = 256;

// Reserves `bytes` bytes at offset `*end`, and advances `*end`. Writes the offset of the reserved
// bytes to `*place`. Returns false on overflow.
bool append(uint64_t bytes, uint64_t *end, uint64_t *place) {
  *place = *end;
  if (!base::checked_add(bytes, kAlignment - 1, &bytes)) return false;
  return base::checked_add(*end, bytes / kAlignment * kAlignment, end);
}

}  // namespace

guf_status ChunkRing::open(guf_error *error) {
  GUF_TRY(plugin::cpu_device(&cpu_, error));
  backend::Device &device = *call_.device;
  GUF_TRY(in_.open(device, nullptr, error));
  GUF_TRY(compute_.open(device, nullptr, error));
  return out_.open(device, nullptr, error);
}

guf_status ChunkRing::measure(guf_error *error) {
  device_bytes_ = host_bytes_ = 0;
  for (ChunkPart &part : parts_) {
    if (part.access == PartAccess::kInPlace) continue;
    uint64_t bytes = part.line_bytes;
    const auto count = static_cast<uint64_t>(part.axis < 0 ? 1 : cut_.chunk());
    if (!base::checked_mul(bytes, count, &bytes) ||
        !append(bytes, &device_bytes_, &part.on_device) ||
        (part.access == PartAccess::kStaged && !append(bytes, &host_bytes_, &part.on_host)) ||
        device_bytes_ > INT64_MAX) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone, "a chunk's size overflows");
    }
  }
  return GUF_OK;
}

guf_status ChunkRing::make_slots(int64_t depth, guf_error *error) {
  close_slots();
  GUF_TRY(measure(error));
  slots_.resize(static_cast<size_t>(depth));
  for (Slot &slot : slots_) GUF_TRY(open_slot(&slot, error));
  return GUF_OK;
}

guf_status ChunkRing::open_slot(Slot *slot, guf_error *error) {
  void *const device = call_.device->native;
  if (device_bytes_ != 0) {
    const auto size = static_cast<int64_t>(device_bytes_);
    GUF_TRY(memory::allocate(*call_.device, GUF_U8, 1, &size, nullptr, GUF_ORDER_C,
                             &slot->on_device, error));
  }
  if (host_bytes_ != 0)
    GUF_TRY(
        api().memory_alloc(device, host_bytes_, GUF_MEMORY_PINNED, nullptr, &slot->on_host, error));
  for (void **event : {&slot->copied_in, &slot->computed, &slot->sent}) {
    GUF_TRY(api().event_open(device, event, error));
  }
  return GUF_OK;
}

void ChunkRing::close_slots() {
  backend::ErrorRecord record(nullptr);
  for (const Slot &slot : slots_) {
    for (void *event : {slot.copied_in, slot.computed, slot.sent}) {
      if (event != nullptr) api().event_close(event);
    }
    if (slot.on_host == 0) continue;
    api().memory_free(call_.device->native, slot.on_host, host_bytes_, GUF_MEMORY_PINNED, nullptr,
                      record.get());
  }
  slots_.clear();
}

// Waits for all streams first, because after a failure queued work may still use the memory.
ChunkRing::~ChunkRing() {
  for (backend::BorrowedStream *stream : {&in_, &compute_, &out_}) {
    if (stream->get() != nullptr) stream->finish(nullptr);
  }
  close_slots();
}

guf_status ChunkRing::record_and_wait(void *event, backend::Stream *from, backend::Stream *to,
                                      guf_error *error) {
  GUF_TRY(api().event_record(event, from->native, error));
  return to == nullptr ? GUF_OK : api().stream_wait_event(to->native, event, error);
}

guf_status ChunkRing::copy(const Slot &slot, ChunkPart &part, int32_t kind, guf_error *error) {
  const uint64_t on_host = part.access == PartAccess::kDirect
                               ? part.host_layout(cut_, slot.range).address
                               : slot.on_host + part.on_host;
  const uint64_t on_device = slot.on_device->layout().address + part.on_device;
  const bool to_device = kind == GUF_COPY_HOST_TO_DEVICE;
  return api().copy(call_.device->native, (to_device ? in_ : out_).get()->native,
                    to_device ? on_device : on_host, to_device ? on_host : on_device,
                    part.bytes(slot.range.count), kind, error);
}

guf_status ChunkRing::copy_in(const ChunkRange &range, guf_error *error) {
  Slot &slot = slots_[next_];
  slot.range = range;
  for (ChunkPart &part : parts_) {
    if (part.access == PartAccess::kInPlace) {
      part.view->layout = part.host_layout(cut_, range);
      continue;
    }
    if (part.load && part.access == PartAccess::kStaged) {
      const array::Layout host = part.host_layout(cut_, range);
      const array::Layout packed = part.packed_at(slot.on_host + part.on_host, range);
      GUF_TRY(memory::convert(*cpu_, nullptr, {packed, false}, {host, part.swapped}, error));
    }
    if (part.load) GUF_TRY(copy(slot, part, GUF_COPY_HOST_TO_DEVICE, error));
    part.view->layout = part.packed_at(slot.on_device->layout().address + part.on_device, range);
    part.view->flags &= ~static_cast<uint32_t>(op::kSwapped);
  }
  return record_and_wait(slot.copied_in, in_.get(), compute_.get(), error);
}

guf_status ChunkRing::copy_out(guf_error *error) {
  const Slot &slot = slots_[next_];
  GUF_TRY(record_and_wait(slot.computed, compute_.get(), out_.get(), error));
  for (ChunkPart &part : parts_) {
    if (part.store && part.access != PartAccess::kInPlace)
      GUF_TRY(copy(slot, part, GUF_COPY_DEVICE_TO_HOST, error));
  }
  GUF_TRY(record_and_wait(slot.sent, out_.get(), nullptr, error));
  next_ = (next_ + 1) % slots_.size();
  ++pending_;
  return GUF_OK;
}

guf_status ChunkRing::finish(guf_error *error) {
  const Slot &slot = slots_[oldest_place()];
  --pending_;
  const guf_status computed = api().event_synchronize(slot.computed, UINT64_MAX, error);
  // Synchronizing clears the stream's failure, so that later chunks report only their own failures.
  if (computed != GUF_OK) {
    backend::ErrorRecord record(nullptr);
    api().stream_synchronize(compute_.get()->native, UINT64_MAX, record.get());
  }
  if (computed != GUF_OK) backend::remove_launch_number(error);
  if (computed != GUF_OK && computed != GUF_E_FLOATING_POINT) return computed;
  backend::ErrorRecord later(computed == GUF_OK ? error : nullptr);
  GUF_TRY(api().event_synchronize(slot.sent, UINT64_MAX, later.get()));
  for (ChunkPart &part : parts_) {
    if (!part.store || part.access != PartAccess::kStaged) continue;
    const array::Layout host = part.host_layout(cut_, slot.range);
    const array::Layout packed = part.packed_at(slot.on_host + part.on_host, slot.range);
    GUF_TRY(memory::convert(*cpu_, nullptr, {host, part.swapped}, {packed, false}, later.get()));
  }
  return computed;
}

}  // namespace gufunc::chunked
