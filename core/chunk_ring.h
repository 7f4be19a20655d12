// SPDX-License-Identifier: Apache-2.0
// Chunks of a call under way on a device: each has a slot with memory here and there, and passes
// three streams, one behind the other: in, through the kernel, out.
#ifndef GUFUNC_CORE_CHUNK_RING_H
#define GUFUNC_CORE_CHUNK_RING_H

#include <memory>
#include <vector>

#include "core/backend/borrowed_stream.h"
#include "core/chunk_parts.h"
#include "core/resolve/resolve.h"

namespace gufunc::pipeline {

class ChunkRing {
 public:
  // `parts`, the call and its cut are the chunked call's, and stay its.
  ChunkRing(op::CallView &call, std::vector<ChunkPart> &parts, const ChunkCut &cut)
      : call_(call), parts_(parts), cut_(cut) {}
  ChunkRing(const ChunkRing &) = delete;
  ChunkRing &operator=(const ChunkRing &) = delete;
  ~ChunkRing();

  // Opens the streams.   Errors  as the slots of streams
  guf_status open(guf_error *error);

  // Memory for `depth` chunks of the parts, as they are cut now. May be tried again.
  // Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_SHAPE, as the slots of events
  guf_status make_slots(int64_t depth, guf_error *error);

  // The stream that computes: what else the kernel reads is brought on it.
  backend::Stream *compute() const { return compute_.get(); }

  // Copies a chunk in and has the call's views see it on the device: launch on `compute`, then
  // `send_home`. The next slot is free: `finish` its chunk before.
  guf_status bring(const ChunkRange &range, guf_error *error);
  guf_status send_home(guf_error *error);

  int64_t pending() const { return pending_; }
  bool full() const { return pending_ == static_cast<int64_t>(slots_.size()); }

  // The chunk that was brought first of those under way.
  const ChunkRange &oldest() const { return slots_[oldest_place()].range; }

  // Waits for it and writes it to its outputs.
  // Errors  what failed on the way; GUF_E_FLOATING_POINT then leaves the chunk written
  guf_status finish(guf_error *error);

 private:
  struct Slot {
    base::Ref<array::Array> there;
    uint64_t here = 0;
    void *brought = nullptr, *computed = nullptr, *sent = nullptr;
    ChunkRange range = {};
  };

  guf_status measure(guf_error *error);
  guf_status open_slot(Slot *slot, guf_error *error);
  void close_slots();
  guf_status copy(const Slot &slot, ChunkPart &part, int32_t kind, guf_error *error);
  guf_status pass_on(void *event, backend::Stream *from, backend::Stream *to, guf_error *error);
  size_t oldest_place() const {
    return (next_ + slots_.size() - static_cast<size_t>(pending_)) % slots_.size();
  }
  const guf_backend_api &api() const { return call_.device->backend->api; }

  op::CallView &call_;
  std::vector<ChunkPart> &parts_;
  const ChunkCut &cut_;
  backend::Device *cpu_ = nullptr;
  backend::BorrowedStream in_, compute_, out_;
  std::vector<Slot> slots_;
  uint64_t bytes_there_ = 0, bytes_here_ = 0;  // of a slot
  size_t next_ = 0;
  int64_t pending_ = 0;
};

}  // namespace gufunc::pipeline

#endif  // GUFUNC_CORE_CHUNK_RING_H
