// SPDX-License-Identifier: Apache-2.0
// Elementwise copies with the backend's convert slot. Dimensions are sorted by the steps of the
// destination and merged where possible.
#include <algorithm>

#include "core/array/overlap.h"
#include "core/backend/graph.h"
#include "core/backend/pending.h"
#include "core/base/checked.h"
#include "core/memory/memory.h"

namespace gufunc::memory {
namespace {

struct Axis {
  int64_t extent;
  int64_t to_step;
  int64_t from_step;
};

// The dimensions of the copy, innermost first, without axes of extent 1.
struct Loops {
  int32_t ndim = 0;
  bool empty = false;
  uint64_t to = 0;
  uint64_t from = 0;
  Axis axis[GUF_MAX_NDIM];
};

// Adds a dimension. Its step through `to` is made non-negative, so that `merge_neighbours` can
// detect contiguous dimensions by multiplication.
void add_axis(Axis axis, Loops *loops) {
  if (axis.to_step < 0) {
    loops->to += base::offset_of(axis.to_step, axis.extent - 1);
    loops->from += base::offset_of(axis.from_step, axis.extent - 1);
    axis.to_step = base::negated(axis.to_step);
    axis.from_step = base::negated(axis.from_step);
  }
  loops->axis[loops->ndim++] = axis;
}

void merge_neighbours(Loops *loops) {
  int32_t kept = 0;
  for (int32_t i = 1; i < loops->ndim; ++i) {
    Axis &inner = loops->axis[kept];
    const Axis &outer = loops->axis[i];
    int64_t merged = 0;
    if (base::is_product(outer.to_step, inner.to_step, inner.extent) &&
        base::is_product(outer.from_step, inner.from_step, inner.extent) &&
        base::checked_mul(inner.extent, outer.extent, &merged)) {
      inner.extent = merged;
    } else {
      loops->axis[++kept] = outer;
    }
  }
  loops->ndim = loops->ndim == 0 ? 0 : kept + 1;
}

void make_loops(const array::Layout &to, const array::Layout &from, Loops *loops) {
  loops->to = to.address;
  loops->from = from.address;
  for (int32_t i = 0; i < to.ndim; ++i) {
    const int32_t axis = to.ndim - 1 - i;
    const int32_t source = from.ndim - 1 - i;
    const int64_t extent = to.shape[axis];
    if (extent == 0) {
      loops->empty = true;
      return;
    }
    if (extent == 1) continue;
    const bool stretched = source < 0 || from.shape[source] == 1;
    add_axis({extent, to.strides[axis], stretched ? 0 : from.strides[source]}, loops);
  }
  std::sort(loops->axis, loops->axis + loops->ndim,
            [](const Axis &a, const Axis &b) { return a.to_step < b.to_step; });
  merge_neighbours(loops);
}

uint32_t operand_flags(const CopyOperand &operand, uint64_t address, const Loops &loops,
                       int64_t Axis::*step) {
  uint64_t bits = address;
  for (int32_t i = 0; i < loops.ndim; ++i) bits |= static_cast<uint64_t>(loops.axis[i].*step);
  uint32_t flags = 0;
  if (operand.swapped) flags |= GUF_LAUNCH_OPERAND_SWAPPED;
  if (bits % dtype::alignment(operand.layout.dtype) != 0) flags |= GUF_LAUNCH_OPERAND_UNALIGNED;
  return flags;
}

// Sets every field that a convert slot reads. The other fields of the block stay uninitialised.
void fill_block(const CopyOperand &to, const CopyOperand &from, const Loops &loops,
                guf_launch_block *block) {
  block->noperands = 2;
  block->nin = 1;
  block->nloop = std::min<int32_t>(loops.ndim, GUF_MAX_LOOP_NDIM);
  block->ncore = 0;
  block->ncorestrides = 0;
  block->items = 1;
  block->size[0] = 1;
  block->step[0] = 0;
  block->step[1] = 0;
  for (int32_t i = 0; i < block->nloop; ++i) {
    const Axis &axis = loops.axis[i];
    block->items *= static_cast<uint64_t>(axis.extent);
    (i == 0 ? block->size[0] : block->outer_size[i - 1]) = axis.extent;
    int64_t *const steps = i == 0 ? block->step : block->outer_step[i - 1];
    steps[0] = axis.from_step;
    steps[1] = axis.to_step;
  }
  block->mask = 0;
  block->dtype[0] = block->loop_dtype[0] = from.layout.dtype;
  block->dtype[1] = block->loop_dtype[1] = to.layout.dtype;
  block->core_ndim[0] = block->core_ndim[1] = 0;
  const uint32_t from_flags = operand_flags(from, loops.from, loops, &Axis::from_step);
  const uint32_t to_flags = operand_flags(to, loops.to, loops, &Axis::to_step);
  block->operand_flags[0] = from_flags | GUF_LAUNCH_OPERAND_READ;
  if (from.immediate) block->operand_flags[0] |= GUF_LAUNCH_OPERAND_IMMEDIATE;
  block->operand_flags[1] = to_flags | GUF_LAUNCH_OPERAND_WRITTEN;
  block->flags = GUF_LAUNCH_ANY_THREAD;
  if (from.layout.dtype != to.layout.dtype) block->flags |= GUF_LAUNCH_CAST;
  if ((from_flags | to_flags) != 0) block->flags |= GUF_LAUNCH_SWAPPED;
}

}  // namespace

guf_status convert(backend::Device &device, backend::Stream *stream, const CopyOperand &to,
                   const CopyOperand &from, guf_error *error) {
  if (__builtin_expect(to.layout.ndim > GUF_MAX_NDIM, 0)) {  // the capacity of `loops`
    return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                      "expected a copy of at most %d axes, got %d", static_cast<int>(GUF_MAX_NDIM),
                      to.layout.ndim);
  }
  Loops loops;
  make_loops(to.layout, from.layout, &loops);
  if (loops.empty) return GUF_OK;
  guf_launch_block block;
  fill_block(to, from, loops, &block);
  backend::ErrorRecord record(error);
  void *const native = stream == nullptr ? nullptr : stream->native;
  // One block describes at most 8 dimensions. This loop iterates over the remaining dimensions.
  int64_t index[GUF_MAX_NDIM] = {};
  for (;;) {
    block.address[0] = loops.from;
    block.address[1] = loops.to;
    GUF_TRY(device.backend->api.convert(device.native, native, &block, record.get()));
    int32_t k = GUF_MAX_LOOP_NDIM;
    for (; k < loops.ndim; ++k) {
      const Axis &axis = loops.axis[k];
      loops.to += static_cast<uint64_t>(axis.to_step);
      loops.from += static_cast<uint64_t>(axis.from_step);
      if (++index[k] < axis.extent) break;
      loops.to -= base::offset_of(axis.to_step, axis.extent);
      loops.from -= base::offset_of(axis.from_step, axis.extent);
      index[k] = 0;
    }
    if (k >= loops.ndim) return GUF_OK;
  }
}

guf_status copy_overlapping(backend::Device &device, backend::Stream *stream, const CopyOperand &to,
                            const CopyOperand &from, guf_error *error) {
  if (array::same_view(to.layout, from.layout)) {
    if (to.swapped == from.swapped) return GUF_OK;
    return convert(device, stream, to, from, error);
  }
  if (!array::shares_memory(to.layout, from.layout)) {
    return convert(device, stream, to, from, error);
  }
  GUF_TRY(backend::check_not_captured(stream, "a copy between overlapping arrays", error));
  base::Ref<array::Array> staging;
  GUF_TRY(allocate(device, from.layout.dtype, from.layout.ndim, from.layout.shape, nullptr,
                   GUF_ORDER_C, &staging, error));
  // `retained` is needed because queued work may read the staging memory even if the second copy
  // fails.
  backend::RetainedObjects retained(stream);
  retained.add(staging.get());
  const CopyOperand staged = {staging->layout(), from.swapped};
  GUF_TRY(convert(device, stream, staged, from, error));
  return convert(device, stream, to, staged, error);
}

}  // namespace gufunc::memory
