// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/method_lanes.h"

#include <algorithm>
#include <utility>

namespace gufunc::gpu {
namespace {

bool has_smaller_stride(const LaneDim &a, const LaneDim &b) {
  const uint64_t in_a = abs_step(a.input), in_b = abs_step(b.input);
  return in_a != in_b ? in_a < in_b : abs_step(a.output) < abs_step(b.output);
}

bool can_merge(const LaneDim &near, const LaneDim &far) {
  return near.fold < 0 && far.fold < 0 && can_merge_dims(far.input, near.input, near.size) &&
         can_merge_dims(far.mask, near.mask, near.size) &&
         can_merge_dims(far.output, near.output, near.size);
}

}  // namespace

LaneDim LaneDims::remove(int i) {
  const LaneDim dim = dims_[i];
  std::move(dims_ + i + 1, dims_ + count_, dims_ + i);
  --count_;
  return dim;
}

uint64_t LaneDims::total() const {
  uint64_t total = 1;
  for (int i = 0; i < count_; ++i) total *= static_cast<uint64_t>(dims_[i].size);
  return total;
}

void LaneDims::sort_and_merge() {
  // Insertion sort, because it is stable and needs no memory.
  for (int i = 1; i < count_; ++i) {
    for (int k = i; k > 0 && has_smaller_stride(dims_[k], dims_[k - 1]); --k) {
      std::swap(dims_[k], dims_[k - 1]);
    }
  }
  int last = 0;
  for (int i = 1; i < count_; ++i) {
    if (can_merge(dims_[last], dims_[i])) {
      dims_[last].size *= dims_[i].size;
    } else {
      dims_[++last] = dims_[i];
    }
  }
  count_ = std::min(count_, last + 1);
}

void LaneDims::make_dense(int64_t element) {
  int64_t below = 1;
  for (int i = 0; i < count_; ++i) {
    dims_[i].input = below * element;
    dims_[i].mask = below;
    below *= dims_[i].size;
  }
}

uint64_t LaneDims::min_abs_stride() const {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < count_; ++i) least = std::min(least, abs_step(dims_[i].input));
  return least;
}

LanePartition::LanePartition(const LaneDims &lanes, uint64_t most)
    : lanes_(lanes), total_(lanes.total()) {
  for (; dim_ < lanes.count(); ++dim_) {
    const auto size = static_cast<uint64_t>(lanes[dim_].size);
    if (size > most / below_) break;
    below_ *= size;
  }
  if (dim_ < lanes.count()) piece_ = static_cast<int64_t>(std::max<uint64_t>(most / below_, 1));
}

bool LanePartition::next(LaneRange *out) {
  if (at_ >= total_) return false;
  *out = {};
  out->first = at_;
  dev::lane_dims &dims = out->dims;
  dims.pitch = total_;
  uint64_t count = below_, rest = at_ / below_;
  for (int d = 0; d < dim_; ++d) {
    dims.size[d] = divisor_of(static_cast<uint32_t>(lanes_[d].size));
  }
  dims.ndim = static_cast<uint32_t>(dim_);
  for (int d = dim_; d < lanes_.count(); ++d) {
    const LaneDim &dim = lanes_[d];
    const auto index = static_cast<int64_t>(rest % static_cast<uint64_t>(dim.size));
    rest /= static_cast<uint64_t>(dim.size);
    out->input += index * dim.input;
    out->mask += index * dim.mask;
    out->output += index * dim.output;
    if (d > dim_) continue;
    const auto size = static_cast<uint32_t>(std::min(piece_, dim.size - index));
    dims.size[dims.ndim++] = divisor_of(size);
    count *= size;
  }
  for (uint32_t d = 0; d < dims.ndim; ++d) {
    const LaneDim &dim = lanes_[static_cast<int>(d)];
    dims.input[d] = dim.input;
    dims.mask[d] = dim.mask;
    dims.output[d] = dim.output;
  }
  dims.lanes = static_cast<uint32_t>(count);
  at_ += count;
  return true;
}

}  // namespace gufunc::gpu
