// SPDX-License-Identifier: Apache-2.0
// Reduces one dimension of all lanes, either as a tree, with one launch for each level, or by a
// left fold.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_PASSES_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_PASSES_H

#include "backends/gpu/geometry/method_job.h"

namespace gufunc::gpu {

struct ReducedAxis {
  int64_t size, step, mask_step;
};

// A table of the pieces of the axis (dev::fold_piece) in device memory.
// Without a table, the axis is one piece.
struct PieceTable {
  uint64_t address = 0;
  uint64_t count = 0;
};

// The destination of the results of a launch.
struct PassTarget {
  dev::fold_sink sink = {};
  int64_t element = 0;  // size of a partial result; 0: the results are final
};

// The division of the threads of a block among neighbouring lanes, the accumulators of a base block
// (parts), and base blocks or runs of partial results (units). All members are logarithms to
// base 2.
struct TreeTiling {
  uint32_t log2_lanes, log2_parts, log2_units;
};
// Returns the division for pieces of at most `longest` elements.
TreeTiling tiling_of_leaves(const LaneDims &lanes, int64_t step, uint64_t longest);
TreeTiling tiling_of_joins(const LaneDims &lanes, uint64_t longest);
// Returns the number of elements of a piece that one block processes.
inline uint64_t span_of_leaves(TreeTiling tiling) {
  return uint64_t{GUF_LEAF_SIZE} << tiling.log2_units;
}
inline uint64_t span_of_joins(TreeTiling tiling) {
  return uint64_t{dev::kJoinRun} << tiling.log2_units;
}

// Queues one launch of `leaves` or `join`, or several launches if there are too many work-items.
guf_status launch_tree(MethodJob &job, Entry entry, const LaneDims &lanes, const FoldSource &from,
                       const ReducedAxis &axis, TreeTiling tiling, const PieceTable &table,
                       const PassTarget &to);

// Reduces the whole axis of each lane.
guf_status fold_by_tree(MethodJob &job, const LaneDims &lanes, const FoldSource &from,
                        const ReducedAxis &axis, const PassTarget &to);
// Combines `count` partial results of each lane, with the layout [slot][lane], level by level.
guf_status combine_levels(MethodJob &job, const LaneDims &lanes, const FoldSource &from,
                          uint64_t count, const PassTarget &to);

struct LeftFold {
  FoldSource from;
  ReducedAxis axis;
  uint64_t start;  // address of the start values of X, one for each lane, or 0
  int ndim;        // number of further dimensions that are reduced together with the axis
  ReducedAxis further[GUF_MAX_LOOP_NDIM - 1];
};
guf_status left_fold(MethodJob &job, const LaneDims &lanes, const LeftFold &fold,
                     const PieceTable &table, const PassTarget &to);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_PASSES_H
