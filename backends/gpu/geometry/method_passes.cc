// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/method_passes.h"

#include <algorithm>
#include <bit>

#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {
namespace {

constexpr uint32_t kLogThreads = 8;
static_assert(1 << kLogThreads == dev::kFoldThreads);
// The logarithm of the number of lanes in a block if the lanes are neighbours in memory.
constexpr uint32_t kLogRowLanes = 5;
constexpr uint64_t kMaxFoldBlocks = kMaxItems / dev::kFoldThreads;

// Returns the smallest k with 2^k >= n.
uint32_t log2_of(uint64_t n) {
  return n < 2 ? 0 : static_cast<uint32_t>(std::bit_width(n - 1));
}

uint64_t ceil_div64(uint64_t a, uint64_t b) {
  return (a + b - 1) / b;
}

uint32_t shared_bytes_of(const MethodJob &job) {
  return dev::kFoldThreads * (static_cast<uint32_t>(job.partial_bytes()) + 1);
}

// Returns the sink of a launch, with the address of the result of its first lane. Supports partial
// and final results.
dev::fold_sink sink_from(const PassTarget &to, const LaneRange &range) {
  dev::fold_sink sink = to.sink;
  if (to.element == 0) {
    sink.output += static_cast<uint64_t>(range.output);
    return sink;
  }
  sink.output += range.first * static_cast<uint64_t>(to.element);
  if (sink.present != 0) sink.present += range.first;
  return sink;
}

dev::fold_source source_from(const FoldSource &from, const ReducedAxis &axis,
                             const LaneRange &range) {
  dev::fold_source source = {};
  source.input = from.address + static_cast<uint64_t>(range.input);
  source.mask = from.mask == 0 ? 0 : from.mask + static_cast<uint64_t>(range.mask);
  source.step = axis.step;
  source.mask_step = axis.mask_step;
  source.form = from.form;
  return source;
}

bool is_fast(const MethodJob &job, const FoldSource &from) {
  return from.mask == 0 && (from.form & (dev::kFormLoopType | dev::kFormPartial)) != 0 &&
         !job.reports_fp_flags();
}

}  // namespace

TreeTiling tiling_of_leaves(const LaneDims &lanes, int64_t step, uint64_t longest) {
  const uint32_t parts = longest < 8 ? 0 : 3;
  const bool by_rows = lanes.min_abs_stride() < abs_step(step);
  uint32_t side = 0;
  if (by_rows) side = std::min(log2_of(lanes.total()), parts == 0 ? kLogThreads : kLogRowLanes);
  const uint32_t leaves = log2_of(ceil_div64(longest, GUF_LEAF_SIZE));
  return {side, parts, std::min(leaves, kLogThreads - parts - side)};
}

TreeTiling tiling_of_joins(const LaneDims &lanes, uint64_t longest) {
  const uint32_t side = std::min(log2_of(lanes.total()), kLogRowLanes);
  const uint32_t runs = log2_of(ceil_div64(longest, dev::kJoinRun));
  return {side, 0, std::min(runs, kLogThreads - side)};
}

guf_status launch_tree(MethodJob &job, Entry entry, const LaneDims &lanes, const FoldSource &from,
                       const ReducedAxis &axis, TreeTiling tiling, const PieceTable &table,
                       const PassTarget &to) {
  const bool joins = entry == Entry::kJoin;
  dev::tree_block block = {};
  block.status = job.status();
  block.fp_flags = job.fp_flags();
  block.extent = static_cast<uint64_t>(axis.size);
  block.span = joins ? span_of_joins(tiling) : span_of_leaves(tiling);
  block.log2_lanes = tiling.log2_lanes;
  block.log2_parts = tiling.log2_parts;
  block.log2_units = tiling.log2_units;
  const uint64_t pieces = table.address != 0
                              ? table.count
                              : std::max<uint64_t>(ceil_div64(block.extent, block.span), 1);
  const uint64_t some = std::min(pieces, kMaxFoldBlocks);
  // The logarithm of the number of lanes of a block.
  const uint32_t log2_group = kLogThreads - tiling.log2_parts - tiling.log2_units;
  LanePartition partition(lanes, (kMaxFoldBlocks / some) << log2_group);
  LaneRange range;
  while (partition.next(&range)) {
    block.lanes = range.dims;
    block.from = source_from(from, axis, range);
    if (joins) {
      block.from.input = from.address + range.first * static_cast<uint64_t>(job.partial_bytes());
      if (from.mask != 0) block.from.mask = from.mask + range.first;
    }
    block.to = sink_from(to, range);
    if (!joins && is_fast(job, from)) block.to.flags |= dev::kFoldFast;
    const uint64_t groups = ceil_div64(range.dims.lanes, uint64_t{1} << log2_group);
    for (uint64_t first = 0; first < pieces; first += some) {
      const uint64_t count = std::min(some, pieces - first);
      block.first_slot = first;
      block.table = table.address == 0 ? 0 : table.address + first * sizeof(dev::fold_piece);
      block.pieces = divisor_of(static_cast<uint32_t>(count));
      GUF_BACKEND_TRY(job.run(entry, groups * count, dev::kFoldThreads, shared_bytes_of(job),
                              &block, sizeof(block)));
    }
  }
  return GUF_OK;
}

guf_status combine_levels(MethodJob &job, const LaneDims &lanes, const FoldSource &from,
                          uint64_t count, const PassTarget &to) {
  FoldSource source = from;
  for (;;) {
    const TreeTiling tiling = tiling_of_joins(lanes, count);
    const uint64_t pieces = ceil_div64(count, span_of_joins(tiling));
    const ReducedAxis axis = {static_cast<int64_t>(count), 0, 0};
    if (pieces == 1) return launch_tree(job, Entry::kJoin, lanes, source, axis, tiling, {}, to);
    PassTarget partial;
    partial.element = job.partial_bytes();
    GUF_BACKEND_TRY(job.scratch(pieces * lanes.total(), partial.element, source.mask != 0,
                                &partial.sink.output, &partial.sink.present));
    GUF_BACKEND_TRY(launch_tree(job, Entry::kJoin, lanes, source, axis, tiling, {}, partial));
    source = {partial.sink.output, partial.sink.present, job.partial_form()};
    count = pieces;
  }
}

guf_status fold_by_tree(MethodJob &job, const LaneDims &lanes, const FoldSource &from,
                        const ReducedAxis &axis, const PassTarget &to) {
  const auto size = static_cast<uint64_t>(axis.size);
  const TreeTiling tiling = tiling_of_leaves(lanes, axis.step, size);
  const uint64_t pieces = ceil_div64(size, span_of_leaves(tiling));
  if (pieces <= 1) return launch_tree(job, Entry::kLeaves, lanes, from, axis, tiling, {}, to);
  PassTarget partial;
  partial.element = job.partial_bytes();
  GUF_BACKEND_TRY(job.scratch(pieces * lanes.total(), partial.element, from.mask != 0,
                              &partial.sink.output, &partial.sink.present));
  GUF_BACKEND_TRY(launch_tree(job, Entry::kLeaves, lanes, from, axis, tiling, {}, partial));
  const FoldSource made = {partial.sink.output, partial.sink.present, job.partial_form()};
  return combine_levels(job, lanes, made, pieces, to);
}

guf_status left_fold(MethodJob &job, const LaneDims &lanes, const LeftFold &fold,
                     const PieceTable &table, const PassTarget &to) {
  dev::chain_block block = {};
  block.status = job.status();
  block.fp_flags = job.fp_flags();
  block.extent = block.span = static_cast<uint64_t>(fold.axis.size);
  block.ndim = static_cast<uint32_t>(fold.ndim);
  for (int d = 0; d < fold.ndim; ++d) {
    block.size[d] = static_cast<uint64_t>(fold.further[d].size);
    block.step[d] = fold.further[d].step;
    block.mask_step[d] = fold.further[d].mask_step;
  }
  const uint64_t pieces = table.address != 0 ? table.count : 1;
  const uint64_t some = std::min(pieces, kMaxItems);
  LanePartition partition(lanes, kMaxItems / some);
  LaneRange range;
  while (partition.next(&range)) {
    block.lanes = range.dims;
    block.by_lanes = divisor_of(range.dims.lanes);
    block.from = source_from(fold.from, fold.axis, range);
    block.to = sink_from(to, range);
    if (is_fast(job, fold.from)) block.to.flags |= dev::kFoldFast;
    if (fold.start != 0) {
      block.start = fold.start + range.first * static_cast<uint64_t>(job.value_bytes());
    }
    for (uint64_t first = 0; first < pieces; first += some) {
      const uint64_t items = std::min(some, pieces - first) * range.dims.lanes;
      block.first_slot = first;
      block.table = table.address == 0 ? 0 : table.address + first * sizeof(dev::fold_piece);
      block.items = static_cast<uint32_t>(items);
      GUF_BACKEND_TRY(job.run(Entry::kFold, ceil_div64(items, dev::kFoldThreads), dev::kFoldThreads,
                              0, &block, sizeof(block)));
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::gpu
