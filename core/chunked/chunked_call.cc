// SPDX-License-Identifier: Apache-2.0
// Chunked calls. Types and shapes are determined once for the whole call. Each chunk is then a
// launch over a part of the loop dimensions.
#include "core/chunked/chunked_call.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/call/operand_overlap.h"
#include "core/call/pipeline.h"
#include "core/call/requested_fp_flags.h"
#include "core/call/temporaries.h"
#include "core/chunked/chunk_ring.h"
#include "core/trace/trace.h"

namespace gufunc::chunked {
namespace {

using base::kNone;

constexpr uint64_t kChunkBytes = uint64_t{8} << 20;
constexpr uint64_t kLeastBytes = uint64_t{64} << 10;  // size of the smallest chunk that is tried
constexpr int32_t kDepth = 3, kMaxDepth = 16;

guf_status check_options(const guf_chunk_options &options, guf_error *error) {
  if (options.flags != 0 || options.reserved != 0) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "options->flags and options->reserved must be 0; got 0x%x and %u",
                      options.flags, options.reserved);
  }
  if (options.depth < 0 || options.depth > kMaxDepth) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "depth: expected 0 to %d, got %d", kMaxDepth,
                      options.depth);
  }
  return GUF_OK;
}

guf_status check_call(const op::CallView &call, guf_error *error) {
  if (call.nseparate != 0) {
    return base::fail(
        error, GUF_E_UNSUPPORTED, kNone, kNone,
        "%s: chunks run in place on inout operands; only a call accepts separate outputs",
        call.ufunc->name.c_str());
  }
  if (call.stream != nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone,
                      "stream: expected NULL; a chunked call creates its own streams");
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!op::is_missing(call.operand[i])) continue;
    return base::fail(error, GUF_E_ARG, i, kNone,
                      "argument %d is missing: a chunked call needs all outputs", i);
  }
  return GUF_OK;
}

guf_status check_memory(const op::CallView &call, guf_error *error) {
  const int32_t count = call.noperands + (call.has_where ? 1 : 0);
  for (int32_t i = 0; i < count; ++i) {
    const op::OperandView &view = i < call.noperands ? call.operand[i] : call.where;
    const bool in_memory = (view.flags & (op::kScalar | op::kMissing)) == 0;
    if (!in_memory || view.device == nullptr || view.device->host_memory) continue;
    return base::fail(error, GUF_E_UNSUPPORTED, i, kNone,
                      "argument %d is in the memory of %s; chunks are cut in host memory", i,
                      view.device->spec.c_str());
  }
  return GUF_OK;
}

// Rejects operands that overlap. Requires that the shapes are known.
guf_status check_overlap(const op::CallView &call, guf_error *error) {
  call::OverlapCopies copies = {0, 0, false};
  if (!call::find_overlaps(call, &copies)) return GUF_OK;
  const uint32_t found = copies.copied | copies.staged;
  const int32_t argument = found == 0 ? call.noperands : std::countr_zero(found);
  return base::fail(error, GUF_E_OVERLAP, argument, kNone,
                    "argument %d shares memory with another operand, and one of them is written; "
                    "in chunks only the same view may be read and written",
                    argument);
}

class ChunkedCall {
 public:
  ChunkedCall(op::CallView &call, const guf_chunk_options &options, int64_t *done, guf_error *error)
      : call_(call), options_(options), done_(*done), failure_(error), arrays_(call) {}

  guf_status run(guf_error *error);

 private:
  guf_status decide_chunks(guf_error *error);
  guf_status cut(uint64_t bytes, guf_error *error);
  guf_status launch_chunk(const ChunkRange &range);
  guf_status launch_copy();
  guf_status run_on_host();
  guf_status run_on_device();
  guf_status allocate_ring(guf_error *error);
  guf_status finish_oldest();
  guf_status transfer_whole_operands(guf_error *error);
  guf_status report_progress();

  op::CallView &call_;
  const guf_chunk_options &options_;
  int64_t &done_;
  call::FpFailure failure_;
  // Declared before arrays_, so that it is destroyed after the arrays, which use the ring's stream.
  std::unique_ptr<ChunkRing> ring_;
  call::Temporaries arrays_;
  resolve::Choice choice_;
  broadcast::LoopShape loop_;
  void *kernel_ = nullptr;
  ChunkCut cut_;
  std::vector<ChunkPart> parts_;
  int64_t finished_ = 0;  // number of finished chunks
};

guf_status ChunkedCall::decide_chunks(guf_error *error) {
  GUF_TRY(check_options(options_, error));
  GUF_TRY(check_call(call_, error));
  GUF_TRY(check_memory(call_, error));
  GUF_TRY(call::decide(call_, {call::AutoOffload::kInChunks}, &choice_, &loop_, error));
  GUF_TRY(check_overlap(call_, error));
  GUF_TRY(cut(options_.chunk_bytes == 0 ? kChunkBytes : options_.chunk_bytes, error));
  const int64_t items = cut_.items();
  if (options_.first_item < 0 || options_.first_item > items) {
    done_ = 0;
    return base::fail(error, GUF_E_ARG, kNone, kNone, "first_item: expected 0 to %lld, got %lld",
                      static_cast<long long>(items), static_cast<long long>(options_.first_item));
  }
  done_ = options_.first_item;
  if (loop_.items == 0) return GUF_OK;
  return backend::load_kernel(*call_.ufunc, *choice_.loop, *call_.device, &kernel_, error);
}

guf_status ChunkedCall::cut(uint64_t bytes, guf_error *error) {
  cut_.decide(call_, loop_, choice_, bytes);
  return find_parts(call_, loop_, cut_, choice_, &parts_, error);
}

guf_status ChunkedCall::report_progress() {
  if (options_.progress == nullptr || options_.progress(options_.user, done_, cut_.items()) == 0)
    return GUF_OK;
  return base::fail(failure_.error(), GUF_E_CANCELLED, kNone, kNone,
                    "cancelled by progress after outer item %lld of %lld",
                    static_cast<long long>(done_), static_cast<long long>(cut_.items()));
}

// Launches the chunk to which the call's views refer.
guf_status ChunkedCall::launch_chunk(const ChunkRange &range) {
  cut_.restrict_to(range, &loop_);
  if (call::overwrites_first(call_, choice_, loop_)) return launch_copy();
  return failure_.keep(call::launch(call_, loop_, choice_, kernel_, failure_.error()));
}

// Launches a chunk whose kernel overwrites the first operand, on a copy of the operand. The views
// of the chunk refer to memory of the call's device.
guf_status ChunkedCall::launch_copy() {
  const op::OperandView first = call_.operand[0];
  const op::HostCopies host_copies = std::exchange(call_.host_copies, op::HostCopies::kNone);
  call::Temporaries copies(call_);
  const call::OverlapCopies none = {0, 0, false};
  guf_status status = failure_.keep(
      copies.make_copies(call::Staging::of_plan(call_, none, true), loop_, failure_.error()));
  if (status == GUF_OK)
    status = failure_.keep(call::launch(call_, loop_, choice_, kernel_, failure_.error()));
  copies.retain_until_done();
  call_.host_copies = host_copies;
  call_.operand[0] = first;
  return status;
}

guf_status ChunkedCall::run_on_host() {
  ChunkRange range = cut_.first_of(done_);
  for (; !cut_.is_end(range); range = cut_.next(range)) {
    const trace::ChunkSlice slice("run", ++finished_, range.first, range.count);
    for (ChunkPart &part : parts_) part.view->layout = part.host_layout(cut_, range);
    GUF_TRY(launch_chunk(range));
    done_ = cut_.items_done(range);
    GUF_TRY(report_progress());
  }
  return GUF_OK;
}

guf_status ChunkedCall::finish_oldest() {
  const ChunkRange range = ring_->oldest();
  {
    const trace::ChunkSlice slice("finish", ++finished_, range.first, range.count);
    GUF_TRY(failure_.keep(ring_->finish(failure_.error())));
  }
  done_ = cut_.items_done(range);
  return report_progress();
}

// Copies the operands that every chunk reads. These operands are copied only once.
guf_status ChunkedCall::transfer_whole_operands(guf_error *error) {
  const int32_t count = call_.noperands + (call_.has_where ? 1 : 0);
  for (int32_t i = 0; i < count; ++i) {
    op::OperandView &view = i < call_.noperands ? call_.operand[i] : call_.where;
    const bool cut = std::any_of(parts_.begin(), parts_.end(),
                                 [&](const ChunkPart &part) { return part.view == &view; });
    if (!cut) GUF_TRY(arrays_.transfer_input(&view, error));
  }
  if (!call_.has_where || (call_.where.flags & op::kScalar) == 0) return GUF_OK;
  return arrays_.replace_by_copy(&call_.where, GUF_DTYPE_UNSPECIFIED, error);
}

// Allocates the ring and copies the operands that are not cut. If the program did not set the chunk
// size, the size is halved until the allocations succeed.
guf_status ChunkedCall::allocate_ring(guf_error *error) {
  const int64_t depth = options_.depth == 0 ? kDepth : options_.depth;
  bool rest_tried = false;
  for (uint64_t bytes = kChunkBytes;;) {
    guf_status status = ring_->make_slots(cut_.count(cut_.first_of(done_), depth), error);
    if (status == GUF_OK) {
      status = transfer_whole_operands(error);
      rest_tried = true;
    }
    const bool is_full = status == GUF_E_DEVICE_MEMORY || status == GUF_E_NO_MEMORY;
    if (!is_full || options_.chunk_bytes != 0 || bytes <= kLeastBytes) return status;
    bytes /= 2;
    const int32_t inner = cut_.inner();
    GUF_TRY(cut(bytes, error));
    // With the new cut, an operand that has been copied as a whole might have to be cut.
    if (rest_tried && cut_.inner() != inner) return status;
  }
}

guf_status ChunkedCall::run_on_device() {
  ring_ = std::make_unique<ChunkRing>(call_, parts_, cut_);
  ChunkRing &ring = *ring_;
  GUF_TRY(ring.open(failure_.error()));
  call_.stream = ring.compute();
  guf_error attempt = {sizeof attempt};  // reported only if the last attempt fails
  if (const guf_status status = allocate_ring(&attempt); status != GUF_OK) {
    if (failure_.error()->struct_size == sizeof attempt) *failure_.error() = attempt;
    return status;
  }
  for (const ChunkPart &part : parts_) {
    if (part.view != &call_.where && part.dtype != part.full_layout.dtype)
      choice_.cast_mask &= ~(1U << (part.view - call_.operand));
  }
  ChunkRange range = cut_.first_of(done_);
  int64_t queued = 0;
  for (; !cut_.is_end(range); range = cut_.next(range)) {
    if (ring.full()) GUF_TRY(finish_oldest());
    const trace::ChunkSlice slice("queue", ++queued, range.first, range.count);
    GUF_TRY(ring.copy_in(range, failure_.error()));
    GUF_TRY(launch_chunk(range));
    GUF_TRY(ring.copy_out(failure_.error()));
  }
  while (ring.pending() > 0) GUF_TRY(finish_oldest());
  return GUF_OK;
}

guf_status ChunkedCall::run(guf_error *error) {
  GUF_TRY(decide_chunks(error));
  if (loop_.items == 0) done_ = cut_.items();
  if (done_ == cut_.items()) return GUF_OK;
  GUF_TRY(call_.device->host_memory ? run_on_host() : run_on_device());
  return failure_.status();
}

}  // namespace

guf_status call_chunked(op::CallView &call, const guf_chunk_options &options, int64_t *done,
                        guf_error *error) {
  *done = std::max<int64_t>(options.first_item, 0);
  backend::ErrorRecord record(error);
  return ChunkedCall(call, options, done, record.get()).run(record.get());
}

}  // namespace gufunc::chunked
