// SPDX-License-Identifier: Apache-2.0
// Reads the operand of a method and stores its results. Elements of any dtype, byte order and
// alignment are converted to the loop's dtype X. Partial results are converted to X, and values of
// X to the dtype and byte order of the output.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_ELEMENTS_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_ELEMENTS_H

#include <gufunc/backend.h>
#include <gufunc/backend/steps.hpp>

#include <cstdint>

#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/element_convert.h"
#include "backends/cpu/methods/method_fold.h"
#include "backends/cpu/methods/method_scratch.h"

namespace gufunc::cpu {

// A block of `lanes` x `n` elements. Steps are in bytes.
struct Tile {
  const char *base = nullptr;
  int64_t lane_step = 0, step = 0;
};

using sdk::abs_step;

// Returns whether outer_step == step * size, so that two dimensions with these steps can be merged.
// The product may overflow for arrays without elements.
inline bool can_merge_dims(int64_t outer_step, int64_t step, int64_t size) {
  int64_t product;
  return !__builtin_mul_overflow(step, size, &product) && product == outer_step;
}

inline ElementForm form_of(guf_dtype dtype, uint32_t operand_flags) {
  return {dtype, (operand_flags & GUF_LAUNCH_OPERAND_SWAPPED) != 0,
          (operand_flags & GUF_LAUNCH_OPERAND_UNALIGNED) != 0};
}

class Source {
 public:
  // Prepares the conversion. Returns false if the operand's dtype has no cast to the loop's dtype.
  bool open(const guf_method_block &block) {
    const bool mixed = (block.flags & GUF_METHOD_MIXED) != 0;
    const guf_dtype dtype = mixed ? block.element_dtype : block.loop_dtype;
    const ElementForm form = form_of(block.input_dtype, block.input_flags);
    staged_ = block.input_dtype != dtype || form.swapped || form.unaligned;
    value_bytes_ = dtype_size(dtype);
    return !staged_ || converter_.choose(form, {dtype, false, false});
  }

  bool staged() const { return staged_; }

  // Returns the tile itself, or a converted copy in scratch memory. The `base` of the result is
  // NULL if there is no memory.
  Tile fetch(Tile from, int64_t lanes, int64_t n, MethodScratch &scratch) const {
    if (!staged_) return from;
    return copy_of(from, lanes, n, scratch);
  }

 private:
  Tile copy_of(Tile from, int64_t lanes, int64_t n, MethodScratch &scratch) const {
    Tile tile;
    char *const to = scratch.allocate(lanes * n * value_bytes_);
    if (to == nullptr) return tile;
    // The dimension with the smaller step is contiguous in the copy, as in the source, so that the
    // converted rows are long.
    const bool along_lanes = abs_step(from.lane_step) < abs_step(from.step) && lanes > 1;
    tile.base = to;
    tile.lane_step = along_lanes ? value_bytes_ : n * value_bytes_;
    tile.step = along_lanes ? lanes * value_bytes_ : value_bytes_;
    const int64_t rows = along_lanes ? n : lanes, length = along_lanes ? lanes : n;
    const int64_t row_step = along_lanes ? from.step : from.lane_step;
    const int64_t step = along_lanes ? from.lane_step : from.step;
    if (can_merge_dims(row_step, step, length)) {
      converter_.row(to, value_bytes_, from.base, step, rows * length);
    } else {
      for (int64_t r = 0; r < rows; ++r) {
        converter_.row(to + r * length * value_bytes_, value_bytes_, from.base + r * row_step, step,
                       length);
      }
    }
    return tile;
  }

  ElementConverter converter_;
  bool staged_ = false;
  int64_t value_bytes_ = 0;
};

class Sink {
 public:
  // Prepares the conversion. Returns false if X has no cast to the output's dtype.
  bool open(const guf_method_block &block);

  // Returns whether a loop can write X to the output directly.
  bool direct() const { return direct_; }
  void put_values(const char *from, int64_t from_step, char *to, int64_t to_step,
                  int64_t count) const {
    converter_.row(to, to_step, from, from_step, count);
  }
  // Stores contiguous partial results. `initial` is NULL or a value of X. If it is not NULL, the
  // stored value is f(initial, partial result), or `initial` if there is no partial result.
  guf_status put(const Fold &fold, Lanes results, const char *initial, char *to, int64_t to_step,
                 int64_t count, MethodScratch &scratch) const;
  void fill(const char *value, char *to, int64_t to_step, int64_t count) const {
    converter_.row(to, to_step, value, 0, count);
  }

 private:
  ElementConverter converter_;
  bool direct_ = false;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_ELEMENTS_H
