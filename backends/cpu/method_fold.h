// SPDX-License-Identifier: Apache-2.0
// What a method folds with: the loop X, X -> X, its fold entry where it has one, and values in
// groups of lanes, some of which may be absent (masked off).
#ifndef GUFUNC_BACKENDS_CPU_METHOD_FOLD_H
#define GUFUNC_BACKENDS_CPU_METHOD_FOLD_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/host_loop.h"
#include "backends/cpu/method_scratch.h"

namespace gufunc::cpu {

// Partial results that lie together. `present` is NULL where all are there, else one byte each.
struct Lanes {
  char *value = nullptr;
  uint8_t *present = nullptr;
};

// Elements that are folded from the left, row by row (enum guf_fold, SCAN). Steps in bytes.
struct ScanRows {
  const char *in;
  int64_t in_row, in_step;
  char *out;
  int64_t out_row, out_step;
  const char *before;  // NULL, or what precedes each row's first element
  int64_t before_row;
};

// Partial results are of type A: X, but f32 where X is f16 or bf16 and there is a fold entry.
class Fold {
 public:
  // `watch`: the events that every step is looked at for, or NULL. `failure` NULL: for a question,
  // nothing is run.
  Fold(const guf_backend_method &method, LoopFailure *failure, FpStatus *watch);

  bool tree() const { return tree_; }
  bool exact() const { return exact_; }
  bool has_entry() const { return entry_.entry != nullptr; }
  // Whether the entry may take leaves and tiles at once, where no step needs to be looked at.
  bool folds_at_once() const { return has_entry() && loop_.watch == nullptr; }
  guf_dtype partial_dtype() const {
    return partial_bytes_ == value_bytes_ ? dtype_ : guf_dtype{GUF_F32};
  }
  // The part of the fold entry that keeps the order, which functions without a tree have too; not
  // where steps are looked at.
  bool has_chain() const { return chain_.entry != nullptr; }
  int64_t value_bytes() const { return value_bytes_; }      // X
  int64_t partial_bytes() const { return partial_bytes_; }  // A
  const HostLoop &loop() const { return loop_; }
  const HostLoop &entry() const { return entry_; }
  const HostLoop &chain() const { return chain_; }
  // What every result has at its left; NULL: none.
  const char *initial() const { return initial_; }
  // Whether no further element changes this partial result: true of logical_or, false of
  // logical_and.
  bool is_settled(const char *partial) const {
    return settled_ != 0 && (settled_ >> (*partial != 0 ? 1 : 0) & 1) != 0;
  }
  bool may_settle() const { return settled_ != 0; }

  // out[i] = a[i] op b[i] in A; `out` may be a or b itself. Steps in bytes.
  guf_status join(const char *a, int64_t a_step, const char *b, int64_t b_step, char *out,
                  int64_t out_step, int64_t count) const;
  guf_status load(const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const;
  guf_status store(const char *from, int64_t from_step, char *to, int64_t to_step,
                   int64_t count) const;

  guf_status scan(const ScanRows &rows, int64_t count, int64_t n) const;

  // Values at `a` + i * a_units and so on; what is absent takes no part. `out` may be a or b.
  guf_status combine(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out, int64_t count,
                     MethodScratch &scratch) const;

  // One result per lane of `n` elements laid out [element][lane]: the leaf of the tree (n <= 128),
  // which uses the elements' memory, or the left fold.
  guf_status leaf(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                  MethodScratch &scratch) const;

  // Moves `by` values on.
  Lanes at(Lanes lanes, int64_t by) const {
    return {lanes.value + by * partial_bytes_,
            lanes.present == nullptr ? nullptr : lanes.present + by};
  }
  void copy(Lanes from, Lanes to, int64_t count) const;
  // Memory for `count` values; value NULL when there is none.
  Lanes take(MethodScratch &scratch, int64_t count, bool tracked) const;

 private:
  guf_status combine_present(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out,
                             int64_t count) const;
  guf_status tree_leaf(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                       MethodScratch &scratch) const;
  guf_status move(int32_t request, const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const;
  void find_settled(guf_dtype dtype);

  HostLoop loop_, entry_, chain_;
  guf_dtype dtype_;  // X
  int64_t value_bytes_, partial_bytes_;
  bool tree_, exact_;
  bool opaque_;           // X is a record
  const char *initial_;   // a value of X
  uint32_t settled_ = 0;  // a bit for false and one for true
};

// Joins subtrees of equal size as they arrive in order, `lanes` side by side, like the carries of
// a binary counter.
class TreeJoiner {
 public:
  TreeJoiner(const Fold &fold, MethodScratch &scratch) : fold_(fold), scratch_(scratch) {}

  // For `pushes` subtrees at most; false when memory is out.
  bool open(int64_t lanes, int64_t pushes, bool tracked);
  // Where the next subtree's results belong.
  Lanes next() const { return fold_.at(levels_, depth_ * lanes_); }
  guf_status push();
  guf_status finish(Lanes out);

 private:
  Lanes level(int i) const { return fold_.at(levels_, i * lanes_); }

  const Fold &fold_;
  MethodScratch &scratch_;
  Lanes levels_;
  int64_t lanes_ = 0;
  uint64_t count_ = 0;
  int depth_ = 0;  // subtrees that wait, one after the other
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHOD_FOLD_H
