// SPDX-License-Identifier: Apache-2.0
// The items of a launch, copy or cast in the representation that geometry uses: dimensions, byte
// steps and addresses.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_SHAPE_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_SHAPE_H

#include <gufunc/backend.h>
#include <gufunc/backend/steps.hpp>
#include <gufunc/kernel/device_block.hpp>

namespace gufunc::gpu {

inline constexpr int kMaxOperands = guf::device::kMaxOperands;
inline constexpr int kShapeDims = int{GUF_MAX_LOOP_NDIM} + int{guf::device::kCoreStrides};
inline constexpr int kMaskColumn = kMaxOperands;  // column of the mask in `step`

// The maximum number of items of one launch, which is below 2^31 and keeps grids below 2^32
// threads.
inline constexpr uint64_t kMaxItems = uint64_t{1} << 30;
inline constexpr uint64_t kMaxBlocks = (uint64_t{1} << 24) - 1;  // limit for blocks of 256 threads

// Dimension 0 is the innermost. No size is 1. Only the array elements in use are set.
struct LaunchShape {
  int count;  // number of operands
  int ndim;
  uint64_t items;
  uint64_t mask;  // address of the mask, or 0
  int64_t size[kShapeDims];
  int64_t step[kShapeDims][kMaxOperands + 1];
  uint64_t address[kMaxOperands];
};

// Writes the loop dimensions of a block with at most kMaxOperands operands.
// Dimensions are merged if possible.
void init_shape(const guf_launch_block &block, LaunchShape *out);

// Adds a dimension outside all others, or extends the last dimension if the new one is contiguous
// with it. A dimension of size 1 is ignored. `mask_step` is used only if shape->mask is set.
void add_dimension(LaunchShape *shape, int64_t size, const int64_t *step, int64_t mask_step);

// Sorts the dimensions so that the dimension with the smallest steps of `operand`
// is innermost, and merges dimensions.
void sort_by_operand(LaunchShape *shape, int operand);

// Calls queue(part, context) for parts of at most `limit` items.
using QueuePart = guf_status (*)(const LaunchShape &part, void *context);
guf_status queue_parts(const LaunchShape &shape, uint64_t limit, QueuePart queue, void *context);

template <class Queue>
guf_status for_each_part(const LaunchShape &shape, uint64_t limit, Queue queue) {
  if (__builtin_expect(shape.items <= limit, 1)) return queue(shape);
  return queue_parts(
      shape, limit,
      [](const LaunchShape &part, void *context) { return (*static_cast<Queue *>(context))(part); },
      &queue);
}

using sdk::abs_step;

// Returns whether outer == inner * size without overflow. Two dimensions with these steps can then
// be merged.
constexpr bool can_merge_dims(int64_t outer, int64_t inner, int64_t size) {
  int64_t product = 0;
  return !__builtin_mul_overflow(inner, size, &product) && product == outer;
}

// Returns the constants for divisions by `d`. Requires 0 < d < 2^31.
inline guf::device::divisor divisor_of(uint32_t d) {
  const uint32_t shift = d <= 1 ? 0 : 32U - static_cast<uint32_t>(__builtin_clz(d - 1));
  const uint64_t over = (uint64_t{1} << shift) - d;
  return {d, static_cast<uint32_t>((over << 32) / d + 1), shift};
}

inline uint32_t ceil_div(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_SHAPE_H
