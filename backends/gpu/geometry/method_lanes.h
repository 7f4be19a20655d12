// SPDX-License-Identifier: Apache-2.0
// The dimensions that a pass of a method does not reduce. The items along these dimensions are
// numbered together as lanes.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_LANES_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_LANES_H

#include <gufunc/kernel/device_fold_block.hpp>

#include <cstdint>

#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {

namespace dev = guf::device;

// A dimension. Strides are in bytes. `fold` is the number of a reduced dimension, or -1 for a kept
// dimension, which no pass reduces.
struct LaneDim {
  int64_t size, input, mask, output;
  int fold;
};

class LaneDims {
 public:
  int count() const { return count_; }
  const LaneDim &operator[](int i) const { return dims_[i]; }
  LaneDim &operator[](int i) { return dims_[i]; }
  // Adds a dimension. Dimensions of extent 1 are ignored.
  void add(const LaneDim &dim) {
    if (dim.size != 1) dims_[count_++] = dim;
  }
  LaneDim remove(int i);  // removes the dimension from the list
  uint64_t total() const;
  // Sorts the dimensions by the absolute input stride, smallest first,
  // and merges kept dimensions that are contiguous with each other.
  void sort_and_merge();
  // Sets the strides of a dense array whose dimensions have the order of the list.
  // An element has `element` bytes, a mask element has one byte.
  void make_dense(int64_t element);
  // Returns the smallest absolute stride of the input, or UINT64_MAX if there are no lanes.
  uint64_t min_abs_stride() const;

 private:
  LaneDim dims_[2 * 8] = {};
  int count_ = 0;
};

// A range of lanes for one launch. The offsets are the offsets of its first lane.
struct LaneRange {
  dev::lane_dims dims;
  uint64_t first;  // number of the first lane
  int64_t input, mask, output;
};

// Divides lanes, in order, into ranges of at most `most` lanes: `while (partition.next(&range))`.
class LanePartition {
 public:
  LanePartition(const LaneDims &lanes, uint64_t most);
  bool next(LaneRange *out);

 private:
  const LaneDims &lanes_;
  int dim_ = 0;         // the dimension that is divided; lower dimensions are not divided
  uint64_t below_ = 1;  // number of lanes per step along dim_
  int64_t piece_ = 1;   // extent of a range along dim_
  uint64_t at_ = 0, total_;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_LANES_H
