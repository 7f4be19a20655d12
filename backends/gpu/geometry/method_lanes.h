// SPDX-License-Identifier: Apache-2.0
// The dimensions that a pass of a method does not reduce, numbered together as lanes.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_LANES_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_LANES_H

#include <gufunc/kernel/device_fold_block.hpp>

#include <cstdint>

namespace gufunc::gpu {

namespace dev = guf::device;

inline constexpr uint64_t kMostItems = uint64_t{1} << 30;  // work-items of one launch

// Strides are in bytes. `fold`: -1, or the number of the reduced dimension.
struct Lane {
  int64_t size, input, mask, output;
  int fold;
};

class LaneList {
 public:
  int count() const { return count_; }
  const Lane &operator[](int i) const { return lane_[i]; }
  Lane &operator[](int i) { return lane_[i]; }
  // Ignores dimensions of extent 1.
  void add(const Lane &lane) {
    if (lane.size != 1) lane_[count_++] = lane;
  }
  Lane take(int i);  // removes it
  uint64_t total() const;
  // Sorts by the distance of the input, smallest first, and merges kept dimensions that are
  // contiguous with each other.
  void arrange();
  // Sets the strides of a dense array in the order of the list, with `element` bytes per element
  // and one byte per mask element.
  void make_dense(int64_t element);
  // The smallest stride of the input; INT64_MAX without lanes.
  int64_t nearest() const;

 private:
  Lane lane_[2 * 8] = {};
  int count_ = 0;
};

// The lanes of one launch. Offsets are those of the first lane.
struct LaneRange {
  dev::lane_dims dims;
  uint64_t first;  // number of the first lane
  int64_t input, mask, output;
};

// Divides lanes into ranges of at most `most`, in order: `while (cut.next(&range))`.
class LaneCut {
 public:
  LaneCut(const LaneList &lanes, uint64_t most);
  bool next(LaneRange *out);

 private:
  const LaneList &lanes_;
  int dim_ = 0;         // the dimension that is divided; those below it are whole
  uint64_t below_ = 1;  // lanes per step along dim_
  int64_t piece_ = 1;   // extent of a range along dim_
  uint64_t at_ = 0, total_;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_LANES_H
