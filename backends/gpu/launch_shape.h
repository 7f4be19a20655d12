// SPDX-License-Identifier: Apache-2.0
// Items of a launch or a move as geometry works on them: dimensions, byte steps, addresses.
#ifndef GUFUNC_BACKENDS_GPU_LAUNCH_SHAPE_H
#define GUFUNC_BACKENDS_GPU_LAUNCH_SHAPE_H

#include <gufunc/backend.h>
#include <gufunc/kernel/device_block.hpp>

namespace gufunc::gpu {

inline constexpr int kMaxOperands = guf::device::kMaxOperands;
inline constexpr int kShapeDims = int{GUF_MAX_LOOP_NDIM} + int{guf::device::kCoreStrides};
inline constexpr int kMaskColumn = kMaxOperands;  // of `step`

// Items that one launch takes: below 2^31 with room, and a grid of them is below 2^32 threads.
inline constexpr uint64_t kMaxItems = uint64_t{1} << 30;
inline constexpr uint64_t kMaxBlocks = (uint64_t{1} << 24) - 1;  // of 256 threads

// Dimension 0 is the innermost; no size is 1. Not initialised as a whole.
struct LaunchShape {
  int count;  // operands
  int ndim;
  uint64_t items;
  uint64_t mask;  // address, or 0
  int64_t size[kShapeDims];
  int64_t step[kShapeDims][kMaxOperands + 1];
  uint64_t address[kMaxOperands];
};

// The loop dimensions of a block with at most kMaxOperands operands, as few as there can be.
void take_shape(const guf_launch_block &block, LaunchShape *out);

// Adds a dimension outside of all others, or within the last one where it continues that. Sizes of
// 1 leave no trace. `mask_step` counts only where shape->mask is set.
void add_dimension(LaunchShape *shape, int64_t size, const int64_t *step, int64_t mask_step);

// The dimension with the smallest steps of `operand` first, and as few dimensions as that gives.
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

// 0 < divisor < 2^31.
inline guf::device::divisor divisor_of(uint32_t d) {
  const uint32_t shift = d <= 1 ? 0 : 32U - static_cast<uint32_t>(__builtin_clz(d - 1));
  const uint64_t over = (uint64_t{1} << shift) - d;
  return {d, static_cast<uint32_t>((over << 32) / d + 1), shift};
}

inline uint32_t quotient_up(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_LAUNCH_SHAPE_H
