// SPDX-License-Identifier: Apache-2.0
// While one chunk is computed, the next is copied in and the last is copied out: nothing here waits
// but `finish`, for the oldest. Host memory of the caller is read and written by the cpu's threads,
// which pack strides and swap bytes on the way; the device sees page-locked memory alone.
#include "core/chunk_ring.h"

#include <algorithm>

#include "core/base/checked.h"

namespace gufunc::pipeline {
namespace {

constexpr uint64_t kAlignment = 256;

bool round_up(uint64_t bytes, uint64_t *out) {
  if (!base::checked_add(bytes, kAlignment - 1, out)) return false;
  *out = *out / kAlignment * kAlignment;
  return true;
}

}  // namespace

guf_status ChunkRing::open(int32_t depth, int64_t count, guf_error *error) {
  GUF_TRY(backend::cpu_device(&cpu_, error));
  for (ChunkPart &part : parts_) {
    uint64_t bytes = 0;
    part.place = slot_bytes_;
    const auto items = part.axis < 0 ? uint64_t{1} : static_cast<uint64_t>(count);
    if (!base::checked_mul(part.item_bytes, items, &bytes) || !round_up(bytes, &bytes) ||
        !base::checked_add(slot_bytes_, bytes, &slot_bytes_)) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone, "a chunk's size overflows");
    }
  }
  backend::Device &device = *call_.device;
  GUF_TRY(in_.open(device, nullptr, error));
  GUF_TRY(compute_.open(device, nullptr, error));
  GUF_TRY(out_.open(device, nullptr, error));
  slots_.resize(static_cast<size_t>(depth));
  for (Slot &slot : slots_) GUF_TRY(open_slot(&slot, error));
  return GUF_OK;
}

guf_status ChunkRing::open_slot(Slot *slot, guf_error *error) {
  void *const device = call_.device->native;
  const auto size = static_cast<int64_t>(std::max<uint64_t>(slot_bytes_, 1));
  GUF_TRY(
      memory::allocate(*call_.device, GUF_U8, 1, &size, nullptr, GUF_ORDER_C, &slot->there, error));
  GUF_TRY(api().memory_alloc(device, slot_bytes_, GUF_MEMORY_PINNED, nullptr, &slot->here, error));
  for (void **event : {&slot->brought, &slot->computed, &slot->sent}) {
    GUF_TRY(api().event_open(device, event, error));
  }
  return GUF_OK;
}

// Nothing of a failed call may still use what goes now.
ChunkRing::~ChunkRing() {
  for (backend::BorrowedStream *stream : {&in_, &compute_, &out_}) {
    if (stream->get() != nullptr) stream->finish(nullptr);
  }
  backend::ErrorRoom room(nullptr);
  for (const Slot &slot : slots_) {
    for (void *event : {slot.brought, slot.computed, slot.sent}) {
      if (event != nullptr) api().event_close(event);
    }
    if (slot.here == 0) continue;
    api().memory_free(call_.device->native, slot.here, slot_bytes_, GUF_MEMORY_PINNED, nullptr,
                      room.get());
  }
}

guf_status ChunkRing::pass_on(void *event, backend::Stream *from, backend::Stream *to,
                              guf_error *error) {
  GUF_TRY(api().event_record(event, from->native, error));
  return to == nullptr ? GUF_OK : api().stream_wait_event(to->native, event, error);
}

guf_status ChunkRing::copy(const Slot &slot, const ChunkPart &part, int32_t kind,
                           guf_error *error) {
  const auto items = part.axis < 0 ? uint64_t{1} : static_cast<uint64_t>(slot.count);
  const uint64_t here = slot.here + part.place;
  const uint64_t there = slot.there->layout().address + part.place;
  const bool to_device = kind == GUF_COPY_HOST_TO_DEVICE;
  return api().copy(call_.device->native, (to_device ? in_ : out_).get()->native,
                    to_device ? there : here, to_device ? here : there, items * part.item_bytes,
                    kind, error);
}

guf_status ChunkRing::bring(int64_t first, int64_t count, guf_error *error) {
  Slot &slot = slots_[next_];
  slot.first = first;
  slot.count = count;
  for (ChunkPart &part : parts_) {
    const uint64_t there = slot.there->layout().address + part.place;
    if (part.load) {
      const array::Layout home = part.at_home(first, count);
      const array::Layout packed = part.packed_at(slot.here + part.place, count);
      GUF_TRY(memory::convert(*cpu_, nullptr, {packed, false}, {home, part.swapped}, error));
      GUF_TRY(copy(slot, part, GUF_COPY_HOST_TO_DEVICE, error));
    }
    part.view->layout = part.packed_at(there, count);
    part.view->flags &= ~static_cast<uint32_t>(op::kSwapped);
  }
  return pass_on(slot.brought, in_.get(), compute_.get(), error);
}

guf_status ChunkRing::send_home(guf_error *error) {
  const Slot &slot = slots_[next_];
  GUF_TRY(pass_on(slot.computed, compute_.get(), out_.get(), error));
  for (const ChunkPart &part : parts_) {
    if (part.store) GUF_TRY(copy(slot, part, GUF_COPY_DEVICE_TO_HOST, error));
  }
  GUF_TRY(pass_on(slot.sent, out_.get(), nullptr, error));
  next_ = (next_ + 1) % slots_.size();
  ++under_way_;
  return GUF_OK;
}

guf_status ChunkRing::finish(int64_t *out_end, guf_error *error) {
  const size_t oldest = (next_ + slots_.size() - static_cast<size_t>(under_way_)) % slots_.size();
  const Slot &slot = slots_[oldest];
  --under_way_;
  const guf_status computed = api().event_synchronize(slot.computed, UINT64_MAX, error);
  // The stream's failure is told here: those behind it are to tell of their own.
  if (computed != GUF_OK) {
    backend::ErrorRoom room(nullptr);
    api().stream_synchronize(compute_.get()->native, UINT64_MAX, room.get());
  }
  if (computed != GUF_OK && computed != GUF_E_FLOATING_POINT) return computed;
  backend::ErrorRoom later(computed == GUF_OK ? error : nullptr);
  GUF_TRY(api().event_synchronize(slot.sent, UINT64_MAX, later.get()));
  for (ChunkPart &part : parts_) {
    if (!part.store) continue;
    const array::Layout home = part.at_home(slot.first, slot.count);
    const array::Layout packed = part.packed_at(slot.here + part.place, slot.count);
    GUF_TRY(memory::convert(*cpu_, nullptr, {home, part.swapped}, {packed, false}, later.get()));
  }
  *out_end = slot.first + slot.count;
  return computed;
}

}  // namespace gufunc::pipeline
