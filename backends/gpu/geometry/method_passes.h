// SPDX-License-Identifier: Apache-2.0
// Reduces one dimension of all lanes: by the tree, with one launch per level, or by a left fold.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_PASSES_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_PASSES_H

#include "backends/gpu/geometry/method_job.h"

namespace gufunc::gpu {

struct FoldAxis {
  int64_t size, step, mask_step;
};

// A table in device memory of the pieces of the axis (dev::fold_piece). Without a table the axis is
// one segment.
struct PieceTable {
  uint64_t address = 0;
  uint64_t count = 0;
};

// The destination of the results of a launch that processes some of the lanes.
struct PassTarget {
  dev::fold_sink sink = {};
  int64_t element = 0;  // bytes of a partial result; 0: results are final
};

// The division of the threads of a block, as powers of two.
struct TreeTeam {
  uint32_t lanes, parts, units;
};
// Returns the team for pieces of at most `longest` elements.
TreeTeam team_of_leaves(const LaneList &lanes, int64_t step, uint64_t longest);
TreeTeam team_of_joins(const LaneList &lanes, uint64_t longest);
// The number of elements that a piece of the team has.
inline uint64_t span_of_leaves(TreeTeam team) {
  return uint64_t{GUF_LEAF_SIZE} << team.units;
}
inline uint64_t span_of_joins(TreeTeam team) {
  return uint64_t{dev::kJoinRun} << team.units;
}

// One launch of `leaves` or `join`, or several if there are too many work-items.
guf_status launch_tree(MethodJob &job, Entry entry, const LaneList &lanes, const FoldSource &from,
                       const FoldAxis &axis, TreeTeam team, const PieceTable &table,
                       const PassTarget &to);

// Reduces the whole axis of every lane.
guf_status fold_by_tree(MethodJob &job, const LaneList &lanes, const FoldSource &from,
                        const FoldAxis &axis, const PassTarget &to);
// Combines the levels above: `count` partial results of every lane at [slot][lane].
guf_status join_up(MethodJob &job, const LaneList &lanes, const FoldSource &from, uint64_t count,
                   const PassTarget &to);

struct LeftFold {
  FoldSource from;
  FoldAxis axis;
  uint64_t start;  // start values of X per lane, or 0
  int ndim;        // number of further dimensions, reduced together with the axis
  FoldAxis further[GUF_MAX_LOOP_NDIM - 1];
};
guf_status fold_from_left(MethodJob &job, const LaneList &lanes, const LeftFold &fold,
                          const PieceTable &table, const PassTarget &to);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_PASSES_H
