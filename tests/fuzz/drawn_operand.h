// SPDX-License-Identifier: Apache-2.0
// Decodes operands of calls and methods from a fuzzer's bytes. Operands have any dtype, layout and
// kind, and their memory is between guard pages.
#ifndef GUFUNC_TESTS_FUZZ_DRAWN_OPERAND_H
#define GUFUNC_TESTS_FUZZ_DRAWN_OPERAND_H

#include <gufunc/gufunc.h>

#include <array>
#include <cstdint>

#include "guarded_memory.h"
#include "target.h"

namespace gufunc::fuzz {

// The largest number of elements of a call that is run. Larger calls are only resolved.
constexpr int64_t kMaxItems = 4096;

guf_dtype draw_dtype(ByteReader *bytes);

// A shape with up to GUF_MAX_NDIM axes. The operands of one call share this shape.
struct DrawnShape {
  int32_t ndim = 0;
  std::array<int64_t, GUF_MAX_NDIM> extent = {};

  static DrawnShape draw(ByteReader *bytes);

  // Returns the number of elements, or a number above `limit` if there are more than `limit`.
  int64_t items(int64_t limit) const;
};

// Owns one operand and all data that the operand references. It must not be moved or copied.
class DrawnOperand {
 public:
  DrawnOperand() = default;
  DrawnOperand(const DrawnOperand &) = delete;
  DrawnOperand &operator=(const DrawnOperand &) = delete;

  // Makes the operand absent.
  void clear();
  // Draws a tensor with the given shape, or with a shape that may or may not broadcast to the given
  // shape. Sometimes draws an operand of a different kind.
  void draw(ByteReader *bytes, const DrawnShape &shape, bool is_output);
  // Draws a tensor of the given dtype with exactly the given shape.
  void draw_exact(ByteReader *bytes, const DrawnShape &shape, guf_dtype dtype);

  // If both operands have memory, makes the tensor overlap `other` with a small offset.
  void overlap(const DrawnOperand &other, ByteReader *bytes);

  // Fills an integer tensor with values from -1 to `extent`, so that most values are valid indices.
  void fill_indices(ByteReader *bytes, int64_t extent);

  // Returns whether a kernel may run on the operand: it has few elements, and all are in valid
  // memory.
  bool can_run() const { return can_run_; }
  bool is_intact() const { return memory_.is_intact(); }
  const guf_operand &operand() const { return operand_; }

 private:
  void draw_strides(ByteReader *bytes);
  void place(ByteReader *bytes);

  GuardedMemory memory_;
  guf_operand operand_ = {};
  guf_tensor tensor_ = {};
  DrawnShape shape_;
  std::array<int64_t, GUF_MAX_NDIM> strides_ = {};
  int64_t lowest_ = 0;  // lowest and highest byte offset of an element from the first element
  int64_t highest_ = 0;
  bool can_run_ = true;
};

}  // namespace gufunc::fuzz

#endif  // GUFUNC_TESTS_FUZZ_DRAWN_OPERAND_H
