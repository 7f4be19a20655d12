// SPDX-License-Identifier: Apache-2.0
// Dimensions of a method that are not folded in a pass: numbered side by side as lanes.
#ifndef GUFUNC_BACKENDS_GPU_METHOD_LANES_H
#define GUFUNC_BACKENDS_GPU_METHOD_LANES_H

#include <gufunc/kernel/device_fold_block.hpp>

#include <cstdint>

namespace gufunc::gpu {

namespace dev = guf::device;

inline constexpr uint64_t kMostItems = uint64_t{1} << 30;  // work-items of a launch

// Strides in bytes. `fold`: -1, or which fold dimension it is.
struct Lane {
  int64_t size, input, mask, output;
  int fold;
};

class LaneList {
 public:
  int count() const { return count_; }
  const Lane &operator[](int i) const { return lane_[i]; }
  Lane &operator[](int i) { return lane_[i]; }
  // Dimensions of extent 1 are left out.
  void add(const Lane &lane) {
    if (lane.size != 1) lane_[count_++] = lane;
  }
  Lane take(int i);  // removes it
  uint64_t total() const;
  // Those whose input is nearest first; kept ones that follow each other become one.
  void arrange();
  // As a dense array of `element` bytes each in the order of the list, masks of one.
  void lie_dense(int64_t element);
  // What is near in memory: the least stride of the input, INT64_MAX without lanes.
  int64_t nearest() const;

 private:
  Lane lane_[2 * 8] = {};
  int count_ = 0;
};

// Lanes of one launch. Offsets are those of the first.
struct LaneRange {
  dev::lane_dims dims;
  uint64_t first;  // its number
  int64_t input, mask, output;
};

// Cuts lanes into ranges of at most `most`, in order: `while (cut.next(&range))`.
class LaneCut {
 public:
  LaneCut(const LaneList &lanes, uint64_t most);
  bool next(LaneRange *out);

 private:
  const LaneList &lanes_;
  int dim_ = 0;         // which is cut; those below are whole
  uint64_t below_ = 1;  // lanes of a step along it
  int64_t piece_ = 1;   // of its extent
  uint64_t at_ = 0, total_;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_METHOD_LANES_H
