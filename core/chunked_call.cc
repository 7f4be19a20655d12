// SPDX-License-Identifier: Apache-2.0
// Decided once as one call; then each chunk is a launch of fewer outer items.
#include "core/chunked_call.h"

#include <algorithm>

#include "core/asked_events.h"
#include "core/chunk_ring.h"
#include "core/operand_overlap.h"
#include "core/pipeline.h"
#include "core/temporaries.h"

namespace gufunc::pipeline {
namespace {

using base::kNone;

constexpr uint64_t kChunkBytes = uint64_t{8} << 20;
constexpr int32_t kDepth = 3, kMostDepth = 16;

guf_status check_options(const guf_chunk_options &options, guf_error *error) {
  if (options.flags != 0 || options.reserved != 0) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "options->flags and options->reserved must be 0; found 0x%x and %u",
                      options.flags, options.reserved);
  }
  if (options.depth < 0 || options.depth > kMostDepth) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "options->depth: found %d, wanted 0 to %d",
                      options.depth, kMostDepth);
  }
  return GUF_OK;
}

guf_status check_call(const op::CallView &call, guf_error *error) {
  if (call.nseparate != 0) {
    return base::fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                      "%s: chunks run in place on inout operands; separate outputs are guf_call's",
                      call.ufunc->name.c_str());
  }
  if (call.stream != nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "args->stream: a chunked call has streams of its own");
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!op::is_missing(call.operand[i])) continue;
    return base::fail(error, GUF_E_ARG, i, kNone,
                      "argument %d is GUF_OPERAND_NONE: a chunked call needs all outputs", i);
  }
  return GUF_OK;
}

// Once types and shapes are decided and it is known where the call runs.
guf_status check_memory(const op::CallView &call, guf_error *error) {
  const int32_t count = call.noperands + (call.has_where ? 1 : 0);
  for (int32_t i = 0; i < count; ++i) {
    const op::OperandView &view = i < call.noperands ? call.operand[i] : call.where;
    if ((view.flags & op::kDeviceMemory) == 0) continue;
    return base::fail(error, GUF_E_UNSUPPORTED, i, kNone,
                      "argument %d lies in the memory of %s; chunks are cut in host memory", i,
                      view.device->spec.c_str());
  }
  OverlapWork work = {0, 0, false};
  if (!find_overlaps(call, &work)) return GUF_OK;
  return base::fail(
      error, GUF_E_OVERLAP, kNone, kNone,
      "an output shares memory with another operand; in chunks only the same view may "
      "be read and written");
}

class ChunkedCall {
 public:
  ChunkedCall(op::CallView &call, const guf_chunk_options &options, int64_t *done, guf_error *error)
      : call_(call), options_(options), done_(*done), failure_(error), arrays_(call) {}

  guf_status run(guf_error *error);

 private:
  guf_status decide_chunks(guf_error *error);
  guf_status launch_chunk(int64_t count);
  guf_status run_here();
  guf_status run_there();
  guf_status finish_oldest();
  guf_status bring_rest();
  guf_status tell();

  op::CallView &call_;
  const guf_chunk_options &options_;
  int64_t &done_;
  EventFailure failure_;
  std::unique_ptr<ChunkRing> ring_;  // whose stream the arrays go with: it outlives them
  Temporaries arrays_;
  resolve::Choice choice_;
  broadcast::LoopShape loop_;
  void *kernel_ = nullptr;
  std::vector<ChunkPart> parts_;
  int64_t items_ = 1, chunk_ = 1;
  uint64_t inner_ = 1;  // loop items of one outer item
};

guf_status ChunkedCall::decide_chunks(guf_error *error) {
  GUF_TRY(check_options(options_, error));
  GUF_TRY(check_call(call_, error));
  GUF_TRY(decide(call_, &choice_, &loop_, error));
  GUF_TRY(check_memory(call_, error));
  if (loop_.ndim > 0) items_ = loop_.extent[0];
  if (options_.first_item < 0 || options_.first_item > items_) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "options->first_item: found %lld, wanted 0 to %lld",
                      static_cast<long long>(options_.first_item), static_cast<long long>(items_));
  }
  done_ = options_.first_item;
  if (loop_.items == 0) return GUF_OK;
  inner_ = loop_.items / static_cast<uint64_t>(items_);
  GUF_TRY(find_parts(call_, loop_, items_, &parts_, error));
  uint64_t largest = 1;
  for (const ChunkPart &part : parts_) largest = std::max(largest, part.item_bytes);
  const uint64_t wanted = options_.chunk_bytes == 0 ? kChunkBytes : options_.chunk_bytes;
  chunk_ = std::clamp<int64_t>(
      static_cast<int64_t>(std::min<uint64_t>(wanted / largest, INT64_MAX)), 1, items_);
  return backend::kernel_of(*call_.ufunc, *choice_.loop, *call_.device, &kernel_, error);
}

guf_status ChunkedCall::tell() {
  if (options_.progress == nullptr || options_.progress(options_.user, done_, items_) == 0)
    return GUF_OK;
  return base::fail(failure_.error(), GUF_E_CANCELLED, kNone, kNone,
                    "cancelled by options->progress behind outer item %lld of %lld",
                    static_cast<long long>(done_), static_cast<long long>(items_));
}

// What the call's views show: a chunk.
guf_status ChunkedCall::launch_chunk(int64_t count) {
  if (loop_.ndim > 0) loop_.extent[0] = count;
  loop_.items = inner_ * static_cast<uint64_t>(count);
  return failure_.keep(launch(call_, loop_, choice_, kernel_, failure_.error()));
}

guf_status ChunkedCall::run_here() {
  while (done_ < items_) {
    const int64_t count = std::min(chunk_, items_ - done_);
    for (ChunkPart &part : parts_) part.view->layout = part.at_home(done_, count);
    GUF_TRY(launch_chunk(count));
    done_ += count;
    GUF_TRY(tell());
  }
  return GUF_OK;
}

guf_status ChunkedCall::finish_oldest() {
  GUF_TRY(failure_.keep(ring_->finish(&done_, failure_.error())));
  return tell();
}

// What every chunk reads is brought once.
guf_status ChunkedCall::bring_rest() {
  const int32_t count = call_.noperands + (call_.has_where ? 1 : 0);
  for (int32_t i = 0; i < count; ++i) {
    op::OperandView &view = i < call_.noperands ? call_.operand[i] : call_.where;
    const bool cut = std::any_of(parts_.begin(), parts_.end(),
                                 [&](const ChunkPart &part) { return part.view == &view; });
    if (!cut) GUF_TRY(arrays_.bring_input(&view, failure_.error()));
  }
  if (!call_.has_where || (call_.where.flags & op::kScalar) == 0) return GUF_OK;
  return arrays_.replace_by_copy(&call_.where, GUF_DTYPE_UNSPECIFIED, failure_.error());
}

guf_status ChunkedCall::run_there() {
  ring_ = std::make_unique<ChunkRing>(call_, parts_);
  ChunkRing &ring = *ring_;
  const int32_t depth = options_.depth == 0 ? kDepth : options_.depth;
  const int64_t chunks = (items_ - done_ + chunk_ - 1) / chunk_;
  GUF_TRY(
      ring.open(static_cast<int32_t>(std::min<int64_t>(depth, chunks)), chunk_, failure_.error()));
  call_.stream = ring.compute();
  GUF_TRY(bring_rest());
  for (int64_t first = done_; first < items_; first += chunk_) {
    if (ring.full()) GUF_TRY(finish_oldest());
    const int64_t count = std::min(chunk_, items_ - first);
    GUF_TRY(ring.bring(first, count, failure_.error()));
    GUF_TRY(launch_chunk(count));
    GUF_TRY(ring.send_home(failure_.error()));
  }
  while (ring.under_way() > 0) GUF_TRY(finish_oldest());
  return GUF_OK;
}

guf_status ChunkedCall::run(guf_error *error) {
  GUF_TRY(decide_chunks(error));
  if (loop_.items == 0 || done_ == items_) return GUF_OK;
  GUF_TRY(call_.host_copies == op::HostCopies::kNone ? run_here() : run_there());
  return failure_.status();
}

}  // namespace

guf_status call_chunked(op::CallView &call, const guf_chunk_options &options, int64_t *done,
                        guf_error *error) {
  *done = std::max<int64_t>(options.first_item, 0);
  backend::ErrorRoom room(error);
  return ChunkedCall(call, options, done, room.get()).run(room.get());
}

}  // namespace gufunc::pipeline
