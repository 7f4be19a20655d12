// SPDX-License-Identifier: Apache-2.0
// Implements reduceat. The host divides slices into pieces and writes the pieces to a table in
// device memory. The result of a slice with one piece is written directly to the output, and one
// launch computes many such slices. The results of the pieces of other slices are combined level by
// level.
#include <algorithm>

#include "backends/gpu/geometry/host_array.h"
#include "backends/gpu/geometry/method_passes.h"

namespace gufunc::gpu {
namespace {

constexpr uint64_t kMaxPieces = uint64_t{1} << 20;          // maximum number of pieces in a table
constexpr uint64_t kMaxPartialBytes = uint64_t{256} << 20;  // limit for one table's results

enum Class { kTiny, kLeaf, kPiece, kLong, kClasses };

class SliceReduction {
 public:
  explicit SliceReduction(MethodJob &job) : job_(job), block_(job.block) {}
  guf_status run();

 private:
  using Piece = dev::fold_piece;

  uint64_t length(int64_t k) const {
    const int64_t end = k + 1 < block_.nindices ? block_.indices[k + 1] : block_.fold_size[0];
    return static_cast<uint64_t>(std::max<int64_t>(end - block_.indices[k], 1));
  }
  TreeTiling tiling_of(int kind) const;
  int class_of(uint64_t length) const;
  Piece stretch(int64_t k) const {
    return {static_cast<uint64_t>(block_.indices[k]), length(k), static_cast<uint64_t>(k)};
  }
  PassTarget target() const;
  guf_status upload(const Piece *pieces, uint64_t count, PieceTable *out);
  guf_status run_class(int kind);
  guf_status flush(int kind, uint64_t count);
  guf_status run_long();
  guf_status fold_long(int64_t first, int64_t last, uint64_t pieces);
  guf_status join_long(uint64_t slices, uint64_t pieces, PassTarget made);

  MethodJob &job_;
  const guf_method_block &block_;
  LaneDims lanes_;
  FoldSource from_ = {};
  ReducedAxis axis_ = {};
  TreeTiling tilings_[kClasses] = {};
  int64_t members_[kClasses] = {};
  uint64_t most_pieces_ = 0;
  HostArray<Piece> table_, slices_;
};

TreeTiling SliceReduction::tiling_of(int kind) const {
  constexpr uint64_t kLongest[kClasses] = {7, GUF_LEAF_SIZE, uint64_t{1} << 40, uint64_t{1} << 40};
  return tiling_of_leaves(lanes_, axis_.step, kLongest[kind]);
}

int SliceReduction::class_of(uint64_t length) const {
  if (!job_.tree() || length < 8) return kTiny;
  if (length <= GUF_LEAF_SIZE) return kLeaf;
  return length <= span_of_leaves(tilings_[kPiece]) ? kPiece : kLong;
}

PassTarget SliceReduction::target() const {
  PassTarget to;
  to.sink.output = job_.output();
  to.sink.flags = dev::kFoldLast;
  to.sink.slot_step = job_.slot_step();
  return to;
}

guf_status SliceReduction::upload(const Piece *pieces, uint64_t count, PieceTable *out) {
  out->count = count;
  return job_.commands.upload(pieces, count * sizeof(Piece), &out->address, job_.error());
}

// Queues a launch for the pieces in the table.
guf_status SliceReduction::flush(int kind, uint64_t count) {
  if (count == 0) return GUF_OK;
  PieceTable table;
  GUF_BACKEND_TRY(upload(table_.data(), count, &table));
  if (job_.tree()) {
    return launch_tree(job_, Entry::kLeaves, lanes_, from_, axis_, tilings_[kind], table, target());
  }
  return left_fold(job_, lanes_, {from_, axis_, 0, 0, {}}, table, target());
}

guf_status SliceReduction::run_class(int kind) {
  if (members_[kind] == 0) return GUF_OK;
  uint64_t count = 0;
  for (int64_t k = 0; k < block_.nindices; ++k) {
    const Piece piece = stretch(k);
    if (class_of(piece.count) != kind) continue;
    table_[count++] = piece;
    if (count < most_pieces_) continue;
    GUF_BACKEND_TRY(flush(kind, count));
    count = 0;
  }
  return flush(kind, count);
}

// Reduces long slices. Several slices are reduced together if they have few enough pieces.
guf_status SliceReduction::run_long() {
  const uint64_t span = span_of_leaves(tilings_[kLong]);
  const uint64_t bytes = lanes_.total() * static_cast<uint64_t>(job_.partial_bytes());
  const uint64_t most = std::clamp<uint64_t>(kMaxPartialBytes / bytes, 1, kMaxPieces);
  uint64_t pieces = 0;
  int64_t first = 0;
  for (int64_t k = 0; k < block_.nindices; ++k) {
    if (class_of(length(k)) != kLong) continue;
    const uint64_t own = (length(k) + span - 1) / span;
    if (pieces != 0 && pieces + own > most) {
      GUF_BACKEND_TRY(fold_long(first, k, pieces));
      first = k;
      pieces = 0;
    }
    pieces += own;
  }
  return pieces == 0 ? GUF_OK : fold_long(first, block_.nindices, pieces);
}

guf_status SliceReduction::fold_long(int64_t first, int64_t last, uint64_t pieces) {
  const uint64_t span = span_of_leaves(tilings_[kLong]);
  HostArray<Piece> table;
  if (!table.open(pieces)) return fail_memory(job_.error(), "the pieces of reduceat");
  uint64_t count = 0, slices = 0;
  for (int64_t k = first; k < last; ++k) {
    const Piece all = stretch(k);
    if (class_of(all.count) != kLong) continue;
    // The partial results of this slice start at number `count`.
    slices_[slices++] = {count, (all.count + span - 1) / span, all.slot};
    for (uint64_t i = 0; i < all.count; i += span, ++count) {
      table[count] = {all.first + i, std::min(span, all.count - i), count};
    }
  }
  PieceTable device;
  GUF_BACKEND_TRY(upload(table.data(), count, &device));
  PassTarget partial;
  partial.element = job_.partial_bytes();
  GUF_BACKEND_TRY(job_.scratch(count * lanes_.total(), partial.element, false, &partial.sink.output,
                               &partial.sink.present));
  GUF_BACKEND_TRY(
      launch_tree(job_, Entry::kLeaves, lanes_, from_, axis_, tilings_[kLong], device, partial));
  return join_long(slices, count, partial);
}

// Combines the partial results of long slices, one level at a time. A slice with a single partial
// result is passed to the next level unchanged.
guf_status SliceReduction::join_long(uint64_t slices, uint64_t pieces, PassTarget made) {
  for (;;) {
    uint64_t longest = 1;
    for (uint64_t s = 0; s < slices; ++s) longest = std::max(longest, slices_[s].count);
    const TreeTiling tiling = tiling_of_joins(lanes_, longest);
    const uint64_t span = span_of_joins(tiling);
    const FoldSource from = {made.sink.output, 0, job_.partial_form()};
    PieceTable device;
    if (longest <= span) {
      GUF_BACKEND_TRY(upload(slices_.data(), slices, &device));
      return launch_tree(job_, Entry::kJoin, lanes_, from, axis_, tiling, device, target());
    }
    HostArray<Piece> table;
    if (!table.open(pieces)) return fail_memory(job_.error(), "the pieces of reduceat");
    uint64_t count = 0;
    for (uint64_t s = 0; s < slices; ++s) {
      const Piece old = slices_[s];
      slices_[s] = {count, (old.count + span - 1) / span, old.slot};
      for (uint64_t i = 0; i < old.count; i += span, ++count) {
        table[count] = {old.first + i, std::min(span, old.count - i), count};
      }
    }
    GUF_BACKEND_TRY(upload(table.data(), count, &device));
    PassTarget next;
    next.element = job_.partial_bytes();
    GUF_BACKEND_TRY(job_.scratch(count * lanes_.total(), next.element, false, &next.sink.output,
                                 &next.sink.present));
    GUF_BACKEND_TRY(launch_tree(job_, Entry::kJoin, lanes_, from, axis_, tiling, device, next));
    made = next;
    pieces = count;
  }
}

guf_status SliceReduction::run() {
  LaneDims all;
  all.add({block_.fold_size[0], block_.fold_input_step[0], 0, 0, 0});
  for (int d = 0; d < block_.nkept; ++d) {
    all.add({block_.kept_size[d], block_.kept_input_step[d], 0, job_.output_step(d), -1});
  }
  GUF_BACKEND_TRY(job_.open_source(&all, &from_));
  axis_ = {block_.fold_size[0], 0, 0};
  if (axis_.size != 1) axis_.step = all.remove(0).input;
  all.sort_and_merge();
  lanes_ = all;
  for (int kind = 0; kind < kClasses; ++kind) tilings_[kind] = tiling_of(kind);
  for (int64_t k = 0; k < block_.nindices; ++k) ++members_[class_of(length(k))];
  const auto count = static_cast<uint64_t>(block_.nindices);
  most_pieces_ = std::min(count, kMaxPieces);
  if (!table_.open(most_pieces_) || !slices_.open(static_cast<uint64_t>(members_[kLong]) + 1)) {
    return fail_memory(job_.error(), "the slices of reduceat");
  }
  for (int kind = kTiny; kind < kLong; ++kind) GUF_BACKEND_TRY(run_class(kind));
  return run_long();
}

}  // namespace

guf_status queue_reduceat(MethodJob &job) {
  if (job.block.nindices == 0) return GUF_OK;
  GUF_BACKEND_TRY(job.open_output(job.block.nindices));
  GUF_BACKEND_TRY(SliceReduction(job).run());
  return job.close_output();
}

}  // namespace gufunc::gpu
