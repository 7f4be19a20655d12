// SPDX-License-Identifier: Apache-2.0
// A ring of slots for the pending chunks of a call on a device. A slot has device and host memory.
// A chunk passes through three streams in order: copy in, kernel, copy out.
#ifndef GUFUNC_CORE_CHUNKED_CHUNK_RING_H
#define GUFUNC_CORE_CHUNKED_CHUNK_RING_H

#include <memory>
#include <vector>

#include "core/backend/stream.h"
#include "core/chunked/chunk_parts.h"
#include "core/resolve/resolve.h"

namespace gufunc::chunked {

class ChunkRing {
 public:
  // The call, its parts and its cut are borrowed.
  ChunkRing(op::CallView &call, std::vector<ChunkPart> &parts, const ChunkCut &cut)
      : call_(call), parts_(parts), cut_(cut) {}
  ChunkRing(const ChunkRing &) = delete;
  ChunkRing &operator=(const ChunkRing &) = delete;
  ~ChunkRing();

  // Opens the streams.
  // Errors  as the backend's stream slots
  guf_status open(guf_error *error);

  // Allocates memory for `depth` chunks of the current parts. May be called again after a failure.
  // Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_SHAPE, and as the backend's event slots
  guf_status make_slots(int64_t depth, guf_error *error);

  // Returns the stream of the kernels, on which operands that are not cut are also copied.
  backend::Stream *compute() const { return compute_.get(); }

  // `copy_in` queues the copy of a chunk to the device and redirects the call's views to the copy.
  // The caller then launches on `compute` and calls `copy_out`, which queues the copy of the
  // results. If the ring is full, the caller must first `finish` a chunk.
  guf_status copy_in(const ChunkRange &range, guf_error *error);
  guf_status copy_out(guf_error *error);

  int64_t pending() const { return pending_; }
  bool full() const { return pending_ == static_cast<int64_t>(slots_.size()); }

  // Returns the range of the oldest pending chunk.
  const ChunkRange &oldest() const { return slots_[oldest_place()].range; }

  // Waits for the oldest chunk and writes its results to the outputs.
  // Errors  any failure of the chunk; the results are written even after GUF_E_FLOATING_POINT
  guf_status finish(guf_error *error);

 private:
  struct Slot {
    base::Ref<array::Array> on_device;
    uint64_t on_host = 0;
    void *copied_in = nullptr, *computed = nullptr, *sent = nullptr;
    ChunkRange range = {};
  };

  guf_status measure(guf_error *error);
  guf_status open_slot(Slot *slot, guf_error *error);
  void close_slots();
  guf_status copy(const Slot &slot, ChunkPart &part, int32_t kind, guf_error *error);
  guf_status record_and_wait(void *event, backend::Stream *from, backend::Stream *to,
                             guf_error *error);
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
  uint64_t device_bytes_ = 0, host_bytes_ = 0;  // number of bytes per slot
  size_t next_ = 0;
  int64_t pending_ = 0;
};

}  // namespace gufunc::chunked

#endif  // GUFUNC_CORE_CHUNKED_CHUNK_RING_H
