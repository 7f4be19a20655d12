// SPDX-License-Identifier: Apache-2.0
// Merges dimensions, because fewer dimensions require fewer divisions per element.
#include "backends/gpu/geometry/launch_shape.h"

#include <algorithm>
#include <utility>

namespace gufunc::gpu {

void add_dimension(LaunchShape *shape, int64_t size, const int64_t *step, int64_t mask_step) {
  if (size == 1) return;
  const int count = shape->count;
  if (shape->ndim > 0) {
    const int last = shape->ndim - 1;
    const int64_t *const inner = shape->step[last];
    bool merges =
        shape->mask == 0 || can_merge_dims(mask_step, inner[kMaskColumn], shape->size[last]);
    for (int i = 0; i < count && merges; ++i) {
      merges = can_merge_dims(step[i], inner[i], shape->size[last]);
    }
    if (merges) {
      shape->size[last] *= size;
      return;
    }
  }
  const int d = shape->ndim++;
  shape->size[d] = size;
  if (step != shape->step[d]) std::copy_n(step, count, shape->step[d]);
  shape->step[d][kMaskColumn] = shape->mask == 0 ? 0 : mask_step;
}

void init_shape(const guf_launch_block &block, LaunchShape *out) {
  out->count = block.noperands;
  out->ndim = 0;
  out->items = block.items;
  out->mask = (block.flags & GUF_LAUNCH_MASKED) != 0 ? block.mask : 0;
  std::copy_n(block.address, block.noperands, out->address);
  if (block.nloop == 0) return;
  add_dimension(out, block.size[0], block.step, block.mask_step[0]);
  for (int d = 1; d < block.nloop; ++d) {
    add_dimension(out, block.outer_size[d - 1], block.outer_step[d - 1], block.mask_step[d]);
  }
}

namespace {

// Merges dimensions that are contiguous with each other.
void join_dimensions(LaunchShape *shape) {
  const int ndim = shape->ndim;
  shape->ndim = 0;
  // Works in place: add_dimension never overwrites an entry that is still needed.
  for (int d = 0; d < ndim; ++d) {
    add_dimension(shape, shape->size[d], shape->step[d], shape->step[d][kMaskColumn]);
  }
}

void advance(LaunchShape *part, int d, int64_t by) {
  for (int i = 0; i < part->count; ++i) {
    part->address[i] += static_cast<uint64_t>(by * part->step[d][i]);
  }
  if (part->mask != 0) part->mask += static_cast<uint64_t>(by * part->step[d][kMaskColumn]);
}

}  // namespace

void sort_by_operand(LaunchShape *shape, int operand) {
  bool sorted = true;
  const auto row_bytes = static_cast<size_t>(shape->count);
  for (int k = 1; k < shape->ndim; ++k) {
    for (int j = k; j > 0; --j) {
      const uint64_t here = abs_step(shape->step[j][operand]);
      const uint64_t below = abs_step(shape->step[j - 1][operand]);
      if (here == 0 || below <= here) break;
      sorted = false;
      std::swap(shape->size[j], shape->size[j - 1]);
      std::swap_ranges(shape->step[j], shape->step[j] + row_bytes, shape->step[j - 1]);
      std::swap(shape->step[j][kMaskColumn], shape->step[j - 1][kMaskColumn]);
    }
  }
  if (!sorted) join_dimensions(shape);
}

guf_status queue_parts(const LaunchShape &shape, uint64_t limit, QueuePart queue, void *context) {
  if (shape.items <= limit) return queue(shape, context);
  const int d = shape.ndim - 1;
  const int64_t size = shape.size[d];
  const uint64_t below = shape.items / static_cast<uint64_t>(size);
  const auto most = static_cast<int64_t>(std::max<uint64_t>(limit / below, 1));
  LaunchShape part = shape;
  for (int64_t done = 0; done < size; done += most) {
    const int64_t here = std::min(most, size - done);
    part.size[d] = here;
    part.ndim = here == 1 ? d : d + 1;
    part.items = below * static_cast<uint64_t>(here);
    const guf_status status = queue_parts(part, limit, queue, context);
    if (status != GUF_OK) return status;
    advance(&part, d, here);
  }
  return GUF_OK;
}

}  // namespace gufunc::gpu
