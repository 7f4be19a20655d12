// SPDX-License-Identifier: Apache-2.0
// One folded dimension of all lanes: by the tree, in as many launches as it has levels, or from the
// left.
#ifndef GUFUNC_BACKENDS_GPU_METHOD_PASSES_H
#define GUFUNC_BACKENDS_GPU_METHOD_PASSES_H

#include "backends/gpu/method_job.h"

namespace gufunc::gpu {

struct FoldAxis {
  int64_t size, step, mask_step;
};

// Pieces of the axis that a table in device memory names (dev::fold_piece); none: the axis is
// one stretch.
struct PieceTable {
  uint64_t address = 0;
  uint64_t count = 0;
};

// Where lanes are when a launch takes some of them.
struct PassTarget {
  dev::fold_sink sink = {};
  int64_t element = 0;  // bytes of a partial result; 0: results are last ones
};

// How the threads of a block are shared out, as powers of two.
struct TreeTeam {
  uint32_t lanes, parts, units;
};
// For `pieces` of at most `longest` elements each.
TreeTeam team_of_leaves(const LaneList &lanes, int64_t step, uint64_t longest);
TreeTeam team_of_joins(const LaneList &lanes, uint64_t longest);
// Elements that a piece of the team has.
inline uint64_t span_of_leaves(TreeTeam team) {
  return uint64_t{GUF_LEAF_SIZE} << team.units;
}
inline uint64_t span_of_joins(TreeTeam team) {
  return uint64_t{dev::kJoinRun} << team.units;
}

// One launch (or several, where it has too many work-items) of `leaves` or `join`.
guf_status launch_tree(MethodJob &job, Entry entry, const LaneList &lanes, const FoldSource &from,
                       const FoldAxis &axis, TreeTeam team, const PieceTable &table,
                       const PassTarget &to);

// The whole axis of every lane.
guf_status fold_by_tree(MethodJob &job, const LaneList &lanes, const FoldSource &from,
                        const FoldAxis &axis, const PassTarget &to);
// The levels above: `axis.size` partial results of every lane at [slot][lane].
guf_status join_up(MethodJob &job, const LaneList &lanes, const FoldSource &from, uint64_t count,
                   const PassTarget &to);

struct LeftFold {
  FoldSource from;
  FoldAxis axis;
  uint64_t start;  // of X per lane, or 0
  int ndim;        // further dimensions, folded as one with the axis
  FoldAxis further[GUF_MAX_LOOP_NDIM - 1];
};
guf_status fold_from_left(MethodJob &job, const LaneList &lanes, const LeftFold &fold,
                          const PieceTable &table, const PassTarget &to);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_METHOD_PASSES_H
