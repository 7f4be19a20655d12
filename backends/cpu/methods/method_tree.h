// SPDX-License-Identifier: Apache-2.0
// Reduces dimensions, innermost first, by the tree of docs/reductions.md or by a left fold.
// Several results (items of the dimensions that are not reduced) are computed side by side as
// lanes, with bounded scratch memory.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_TREE_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_TREE_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/methods/method_elements.h"
#include "backends/cpu/methods/method_fold.h"
#include "backends/cpu/methods/method_scratch.h"

namespace gufunc::cpu {

// The dimensions to reduce. Dimension 0 is reduced first. Every size is at least 1.
struct FoldShape {
  int ndim = 0;
  int64_t size[GUF_MAX_LOOP_NDIM] = {};
  int64_t step[GUF_MAX_LOOP_NDIM] = {};
  int64_t mask_step[GUF_MAX_LOOP_NDIM] = {};
};

// Lanes that are equally spaced in memory.
struct LaneRun {
  const char *base = nullptr;
  const char *mask = nullptr;  // NULL: no element is masked off
  int64_t count = 1;
  int64_t step = 0, mask_step = 0;

  LaneRun moved(int64_t by, int64_t mask_by) const {
    LaneRun run = *this;
    run.base += by;
    if (run.mask != nullptr) run.mask += mask_by;
    return run;
  }
};

class TreeFolder {
 public:
  // If `source` is NULL, the elements are partial results, which are native and aligned.
  TreeFolder(const Fold &fold, const Source *source, const FoldShape &shape, bool masked,
             MethodScratch &scratch)
      : fold_(fold), source_(source), shape_(shape), masked_(masked), scratch_(scratch) {}

  // Returns the maximum number of lanes in one call of run or run_range.
  int64_t most_lanes() const;
  // Reduces the dimensions 0..last. `start` is NULL, or the value with which each lane
  // starts a left fold of dimension `last`.
  guf_status run(int last, LaneRun lanes, Lanes out, const char *start = nullptr) {
    return run_range(last, lanes, shape_.size[last], out, start);
  }
  // Does the same as run() for the first `n` elements of dimension `last`.
  guf_status run_range(int last, LaneRun lanes, int64_t n, Lanes out, const char *start = nullptr);

 private:
  guf_status elements_of(int dim, LaneRun lanes, int64_t n, Lanes out);
  guf_status read_elements(LaneRun lanes, int64_t step, int64_t mask_step, int64_t n, Lanes out);
  guf_status reduce_base_block(int dim, LaneRun lanes, int64_t n, Lanes out);
  guf_status reduce_base_block_by(LaneRun lanes, int64_t step, int64_t mask_step, int64_t n,
                                  Lanes out);
  guf_status leaves(Tile tile, int64_t lanes, int64_t n, char *out, int64_t out_step) const;
  guf_status left_fold(int dim, LaneRun lanes, int64_t n, Lanes out, const char *start);
  guf_status reduce_row(LaneRun row, int64_t n, Lanes out, const char *start);
  guf_status fold_lanes(LaneRun lanes, int64_t n, Lanes out, const char *start);
  guf_status rows(LaneRun lanes, int64_t n, Lanes out);
  guf_status long_row(LaneRun row, int64_t n, Lanes out);
  guf_status pairs(Lanes *values, Lanes *scratch, int64_t lanes, int64_t count);
  // Returns whether the operand is reduced along one dimension without a mask.
  bool streams() const { return shape_.ndim == 1 && source_ != nullptr && !masked_; }
  bool fast() const { return source_ != nullptr && !masked_ && fold_.folds_at_once(); }

  const Fold &fold_;
  const Source *source_;
  const FoldShape &shape_;
  const bool masked_;
  MethodScratch &scratch_;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_TREE_H
