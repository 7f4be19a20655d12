// SPDX-License-Identifier: Apache-2.0
// The operation of a method: the loop X, X -> X, its fold entry if there is one, and groups of
// lanes of values, some of which may be absent (masked off).
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_FOLD_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_FOLD_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/loops/host_loop.h"
#include "backends/cpu/methods/method_scratch.h"

namespace gufunc::cpu {

// Contiguous partial results. `present` is NULL if all are present, else it has one byte for each.
struct Lanes {
  char *value = nullptr;
  uint8_t *present = nullptr;
};

// Rows to scan from the left (enum guf_fold, SCAN). Steps are in bytes.
struct ScanRows {
  const char *in;
  int64_t in_row, in_step;
  char *out;
  int64_t out_row, out_step;
  const char *before;  // NULL, or the value before the first element of each row
  int64_t before_row;
};

// Combines values in the order of a reduction. Partial results have type A, which is X, except that
// it is f32 if X is f16 or bf16 and there is a fold entry.
class Fold {
 public:
  // `fp_status` examines every step; NULL: no floating-point flags. `failure` is NULL if the method
  // is only described; then nothing runs.
  Fold(const guf_backend_method &method, LoopFailure *failure, FpStatus *fp_status);

  bool tree() const { return tree_; }
  bool exact() const { return exact_; }
  bool has_entry() const { return entry_.entry != nullptr; }
  // Whether the entry can process base blocks and tiles in one call, because no step has to be
  // examined separately.
  bool folds_at_once() const { return has_entry() && loop_.fp_status == nullptr; }
  guf_dtype partial_dtype() const {
    return partial_bytes_ == value_bytes_ ? dtype_ : guf_dtype{GUF_F32};
  }
  // Whether the part of the fold entry that keeps the order can be used. Functions without a tree
  // have this part too. It is not used if steps are examined.
  bool has_chain() const { return chain_.entry != nullptr; }
  int64_t value_bytes() const { return value_bytes_; }      // X
  int64_t partial_bytes() const { return partial_bytes_; }  // A
  const HostLoop &loop() const { return loop_; }
  const HostLoop &entry() const { return entry_; }
  const HostLoop &chain() const { return chain_; }
  // The left operand of every result; NULL: none.
  const char *initial() const { return initial_; }
  // Whether further elements cannot change this partial result: true for logical_or, false for
  // logical_and.
  bool is_settled(const char *partial) const {
    return settled_ != 0 && (settled_ >> (*partial != 0 ? 1 : 0) & 1) != 0;
  }
  bool may_settle() const { return settled_ != 0; }

  // out[i] = a[i] op b[i] in type A; `out` can be a or b. Steps are in bytes.
  guf_status join(const char *a, int64_t a_step, const char *b, int64_t b_step, char *out,
                  int64_t out_step, int64_t count) const;
  guf_status load(const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const;
  guf_status store(const char *from, int64_t from_step, char *to, int64_t to_step,
                   int64_t count) const;

  guf_status scan(const ScanRows &rows, int64_t count, int64_t n) const;

  // Combines the values at `a` + i * a_units and `b` + i * b_units; absent values are skipped.
  // `out` can be a or b.
  guf_status combine(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out, int64_t count,
                     MethodScratch &scratch) const;

  // Computes one result per lane from `n` elements laid out [element][lane]: a base block of the
  // tree (n <= 128), which overwrites the elements, or the left fold.
  guf_status leaf(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                  MethodScratch &scratch) const;

  // Returns the lanes `by` values further on.
  Lanes at(Lanes lanes, int64_t by) const {
    return {lanes.value + by * partial_bytes_,
            lanes.present == nullptr ? nullptr : lanes.present + by};
  }
  void copy(Lanes from, Lanes to, int64_t count) const;
  // Allocates memory for `count` values; `value` is NULL if there is no memory.
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
  bool opaque_;           // X is a structured dtype
  const char *initial_;   // a value of X
  uint32_t settled_ = 0;  // one bit for false and one for true
};

// Combines subtrees of equal size in order of arrival, `lanes` side by side, like the carries of a
// binary counter.
class TreeJoiner {
 public:
  TreeJoiner(const Fold &fold, MethodScratch &scratch) : fold_(fold), scratch_(scratch) {}

  // For at most `pushes` subtrees; returns false if there is no memory.
  bool open(int64_t lanes, int64_t pushes, bool tracked);
  // Where the results of the next subtree must be written.
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
  int depth_ = 0;  // pending subtrees, stored one after the other
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_FOLD_H
