// SPDX-License-Identifier: Apache-2.0
// The operation of a method: the loop X, X -> X and its fold entry, if there is one. The operation
// computes several results side by side, in one lane each. A value may be absent, because the mask
// excludes its elements.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_FOLD_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_FOLD_H

#include <gufunc/backend.h>

#include <cstdint>

#include "backends/cpu/loops/host_loop.h"
#include "backends/cpu/methods/method_scratch.h"

namespace gufunc::cpu {

// Contiguous partial results. `present` has one byte for each result, or is NULL if all results are
// present.
struct Lanes {
  char *value = nullptr;
  uint8_t *present = nullptr;
};

// Rows that are scanned from left to right (GUF_FOLD_SCAN). Steps are in bytes.
struct ScanRows {
  const char *in;
  int64_t in_row, in_step;
  char *out;
  int64_t out_row, out_step;
  const char *before;  // the value before the first element of each row, or NULL
  int64_t before_row;
};

// Combines values in the order of a reduction. X is the loop's dtype. Partial results have the type
// A, which is f32 if X is f16 or bf16 and there is a fold entry; otherwise A is X.
class Fold {
 public:
  // `fp_status` examines every step, or is NULL if floating-point flags are not requested.
  // `failure` is NULL if the method is only described and nothing runs.
  Fold(const guf_backend_method &method, LoopFailure *failure, FpStatus *fp_status);

  bool tree() const { return tree_; }
  bool exact() const { return exact_; }
  bool has_entry() const { return entry_.entry != nullptr; }
  // Returns whether the fold entry can process base blocks and tiles in one call.
  // This is impossible if the floating-point flags of each step are examined.
  bool folds_at_once() const { return has_entry() && loop_.fp_status == nullptr; }
  guf_dtype partial_dtype() const {
    return partial_bytes_ == value_bytes_ ? dtype_ : guf_dtype{GUF_F32};
  }
  // Returns whether the requests of the fold entry that keep the order of the elements
  // (GUF_FOLD_SCAN, GUF_FOLD_AT) can be used. Functions that are not reduced as a tree also support
  // these requests. The requests are not used if the floating-point flags of each step are
  // examined.
  bool has_chain() const { return chain_.entry != nullptr; }
  int64_t value_bytes() const { return value_bytes_; }      // size of X
  int64_t partial_bytes() const { return partial_bytes_; }  // size of A
  const HostLoop &loop() const { return loop_; }
  const HostLoop &entry() const { return entry_; }
  const HostLoop &chain() const { return chain_; }
  // Returns the initial value, which is the left operand of every result, or NULL if there is none.
  const char *initial() const { return initial_; }
  // Returns whether further elements cannot change this partial result.
  // For example, true is final for logical_or, and false for logical_and.
  bool is_absorbing(const char *partial) const {
    return absorbing_ != 0 && (absorbing_ >> (*partial != 0 ? 1 : 0) & 1) != 0;
  }
  bool has_absorbing() const { return absorbing_ != 0; }

  // Computes out[i] = a[i] op b[i] in type A. `out` may be a or b. Steps are in bytes.
  guf_status join(const char *a, int64_t a_step, const char *b, int64_t b_step, char *out,
                  int64_t out_step, int64_t count) const;
  guf_status load(const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const;
  guf_status store(const char *from, int64_t from_step, char *to, int64_t to_step,
                   int64_t count) const;

  guf_status scan(const ScanRows &rows, int64_t count, int64_t n) const;

  // Combines value i * a_units of `a` with value i * b_units of `b`, for each i < count. Absent
  // values are skipped. `out` may be a or b.
  guf_status combine(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out, int64_t count,
                     MethodScratch &scratch) const;

  // Computes one result per lane from `n` elements with the layout [element][lane]. In a tree, the
  // elements are a base block (n <= 128), which is overwritten. Otherwise a left fold combines the
  // elements.
  guf_status base_block(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                        MethodScratch &scratch) const;

  // Returns the lanes that begin `by` values after the start of `lanes`.
  Lanes at(Lanes lanes, int64_t by) const {
    return {lanes.value + by * partial_bytes_,
            lanes.present == nullptr ? nullptr : lanes.present + by};
  }
  void copy(Lanes from, Lanes to, int64_t count) const;
  // Allocates memory for `count` values and, if `tracked` is set, for their `present` bytes. The
  // `value` of the result is NULL if there is no memory.
  Lanes allocate(MethodScratch &scratch, int64_t count, bool tracked) const;

 private:
  guf_status combine_present(Lanes a, int64_t a_units, Lanes b, int64_t b_units, Lanes out,
                             int64_t count) const;
  guf_status tree_leaf(Lanes elements, int64_t lanes, int64_t n, Lanes out,
                       MethodScratch &scratch) const;
  guf_status copy_values(int32_t request, const char *from, int64_t from_step, char *to,
                         int64_t to_step, int64_t count) const;
  void find_absorbing(guf_dtype dtype);

  HostLoop loop_, entry_, chain_;
  guf_dtype dtype_;  // the dtype X
  int64_t value_bytes_, partial_bytes_;
  bool tree_, exact_;
  bool opaque_;             // whether X is a structured dtype
  const char *initial_;     // an initial value of dtype X
  uint32_t absorbing_ = 0;  // bit 0: false is final; bit 1: true is final
};

// Combines subtrees of equal size in the order of their arrival, with `lanes` results side by side.
// Pending subtrees are combined like the carries of a binary counter.
class TreeJoiner {
 public:
  TreeJoiner(const Fold &fold, MethodScratch &scratch) : fold_(fold), scratch_(scratch) {}

  // Allocates memory for at most `pushes` subtrees. Returns false if there is no memory.
  bool open(int64_t lanes, int64_t pushes, bool tracked);
  // Returns the memory for the results of the next subtree.
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
  int depth_ = 0;  // number of pending subtrees, which are stored one after the other
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_FOLD_H
