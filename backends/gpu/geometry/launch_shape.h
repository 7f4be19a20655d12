// SPDX-License-Identifier: Apache-2.0
// The items of a launch, copy or cast in the form that geometry uses: dimensions, byte steps,
// addresses.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_SHAPE_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_SHAPE_H

#include <gufunc/backend.h>
#include <gufunc/kernel/device_block.hpp>

namespace gufunc::gpu {

inline constexpr int kMaxOperands = guf::device::kMaxOperands;
inline constexpr int kShapeDims = int{GUF_MAX_LOOP_NDIM} + int{guf::device::kCoreStrides};
inline constexpr int kMaskColumn = kMaxOperands;  // column of the mask in `step`

// The maximum number of items in one launch: far enough below 2^31, and with grids below 2^32
// threads.
inline constexpr uint64_t kMaxItems = uint64_t{1} << 30;
inline constexpr uint64_t kMaxBlocks = (uint64_t{1} << 24) - 1;  // blocks of 256 threads

// Dimension 0 is the innermost; no size is 1. Members are set only as far as used.
struct LaunchShape {
  int count;  // number of operands
  int ndim;
  uint64_t items;
  uint64_t mask;  // address, or 0
  int64_t size[kShapeDims];
  int64_t step[kShapeDims][kMaxOperands + 1];
  uint64_t address[kMaxOperands];
};

// Writes the loop dimensions of a block with at most kMaxOperands operands, merged into as few
// dimensions as possible.
void take_shape(const guf_launch_block &block, LaunchShape *out);

// Adds a dimension outside all others, or extends the last one if the new dimension continues it.
// Sizes of 1 are ignored. `mask_step` is used only if shape->mask is set.
void add_dimension(LaunchShape *shape, int64_t size, const int64_t *step, int64_t mask_step);

// Makes the dimension with the smallest steps of `operand` the innermost, and merges dimensions.
void sort_by_operand(LaunchShape *shape, int operand);

// Calls queue(part) for parts of at most `limit` items.
using QueuePart = guf_status (*)(const LaunchShape &part, void *context);
guf_status queue_parts(const LaunchShape &shape, uint64_t limit, QueuePart queue, void *context);

template <class Queue>
guf_status in_parts(const LaunchShape &shape, uint64_t limit, Queue queue) {
  if (__builtin_expect(shape.items <= limit, 1)) return queue(shape);
  return queue_parts(
      shape, limit,
      [](const LaunchShape &part, void *context) { return (*static_cast<Queue *>(context))(part); },
      &queue);
}

// Requires 0 < divisor < 2^31.
inline guf::device::divisor divisor_of(uint32_t d) {
  const uint32_t shift = d <= 1 ? 0 : 32U - static_cast<uint32_t>(__builtin_clz(d - 1));
  const uint64_t over = (uint64_t{1} << shift) - d;
  return {d, static_cast<uint32_t>((over << 32) / d + 1), shift};
}

inline uint32_t quotient_up(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_SHAPE_H
