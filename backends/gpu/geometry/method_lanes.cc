// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/method_lanes.h"

#include <algorithm>
#include <utility>

namespace gufunc::gpu {
namespace {

bool is_nearer(const Lane &a, const Lane &b) {
  const uint64_t in_a = step_size(a.input), in_b = step_size(b.input);
  return in_a != in_b ? in_a < in_b : step_size(a.output) < step_size(b.output);
}

bool follows(const Lane &near, const Lane &far) {
  return near.fold < 0 && far.fold < 0 && can_merge_dims(far.input, near.input, near.size) &&
         can_merge_dims(far.mask, near.mask, near.size) &&
         can_merge_dims(far.output, near.output, near.size);
}

}  // namespace

Lane LaneList::take(int i) {
  const Lane lane = lane_[i];
  std::move(lane_ + i + 1, lane_ + count_, lane_ + i);
  --count_;
  return lane;
}

uint64_t LaneList::total() const {
  uint64_t total = 1;
  for (int i = 0; i < count_; ++i) total *= static_cast<uint64_t>(lane_[i].size);
  return total;
}

void LaneList::arrange() {
  // Insertion sort, because it is stable and needs no memory.
  for (int i = 1; i < count_; ++i) {
    for (int k = i; k > 0 && is_nearer(lane_[k], lane_[k - 1]); --k) {
      std::swap(lane_[k], lane_[k - 1]);
    }
  }
  int last = 0;
  for (int i = 1; i < count_; ++i) {
    if (follows(lane_[last], lane_[i])) {
      lane_[last].size *= lane_[i].size;
    } else {
      lane_[++last] = lane_[i];
    }
  }
  count_ = std::min(count_, last + 1);
}

void LaneList::make_dense(int64_t element) {
  int64_t below = 1;
  for (int i = 0; i < count_; ++i) {
    lane_[i].input = below * element;
    lane_[i].mask = below;
    below *= lane_[i].size;
  }
}

uint64_t LaneList::nearest() const {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < count_; ++i) least = std::min(least, step_size(lane_[i].input));
  return least;
}

LaneCut::LaneCut(const LaneList &lanes, uint64_t most) : lanes_(lanes), total_(lanes.total()) {
  for (; dim_ < lanes.count(); ++dim_) {
    const auto size = static_cast<uint64_t>(lanes[dim_].size);
    if (size > most / below_) break;
    below_ *= size;
  }
  if (dim_ < lanes.count()) piece_ = static_cast<int64_t>(std::max<uint64_t>(most / below_, 1));
}

bool LaneCut::next(LaneRange *out) {
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
    const Lane &lane = lanes_[d];
    const auto index = static_cast<int64_t>(rest % static_cast<uint64_t>(lane.size));
    rest /= static_cast<uint64_t>(lane.size);
    out->input += index * lane.input;
    out->mask += index * lane.mask;
    out->output += index * lane.output;
    if (d > dim_) continue;
    const auto size = static_cast<uint32_t>(std::min(piece_, lane.size - index));
    dims.size[dims.ndim++] = divisor_of(size);
    count *= size;
  }
  for (uint32_t d = 0; d < dims.ndim; ++d) {
    const Lane &lane = lanes_[static_cast<int>(d)];
    dims.input[d] = lane.input;
    dims.mask[d] = lane.mask;
    dims.output[d] = lane.output;
  }
  dims.lanes = static_cast<uint32_t>(count);
  at_ += count;
  return true;
}

}  // namespace gufunc::gpu
