// SPDX-License-Identifier: Apache-2.0
// Divides the kept items of a method into units of lanes. The kept dimensions are those along which
// the method does not combine elements, and a kept item is one position in these dimensions. A unit
// is a range of items along one kept dimension; each of its items is computed in its own lane.
#ifndef GUFUNC_BACKENDS_CPU_METHODS_METHOD_ITEMS_H
#define GUFUNC_BACKENDS_CPU_METHODS_METHOD_ITEMS_H

#include <gufunc/backend.h>

#include <algorithm>
#include <cstdint>

namespace gufunc::cpu {

struct ItemUnit {
  int64_t lanes = 1;
  int64_t input = 0, output = 0, mask = 0;  // offsets from the first item, in bytes
  uint64_t first = 0;  // number of the unit's first item; the other items follow it
};

inline constexpr int64_t kFewLanes = 16;

// Returns how many units `threads` threads need: several for each thread,
// so that threads of different speeds finish at the same time.
inline int64_t units_for(uint32_t threads) {
  return threads < 2 ? 1 : int64_t{threads} * 4;
}

// The kept items are numbered with the dimension of the lanes fastest.
class ItemUnits {
 public:
  // Divides the items into units of at most `most_lanes` lanes,
  // and into at least `parts` units if there are enough items.
  // The number of lanes of a unit is rounded up to a multiple of `multiple`.
  ItemUnits(const guf_method_block &block, int64_t most_lanes, int64_t parts,
            int64_t multiple = kFewLanes)
      : block_(block) {
    // The lanes are in the innermost dimension, or in a longer dimension if the innermost one is
    // too short.
    for (int d = 1; d < block.nkept; ++d) {
      if (block.kept_size[dim_] >= kFewLanes) break;
      if (block.kept_size[d] > block.kept_size[dim_]) dim_ = d;
    }
    if (block.nkept == 0 || block.items == 0) {
      units_ = block.items;
      return;
    }
    const int64_t size = block.kept_size[dim_];
    const auto rows = static_cast<int64_t>(block.items) / size;
    lanes_ = std::min(most_lanes, size);
    const int64_t units = (parts + rows - 1) / rows;  // units that each row is divided into
    if (size / units < lanes_) {
      const int64_t even = (size / units + multiple - 1) / multiple * multiple;
      lanes_ = std::clamp<int64_t>(even, 1, lanes_);
    }
    per_row_ = static_cast<uint64_t>((size - 1) / lanes_ + 1);
    units_ = per_row_ * static_cast<uint64_t>(rows);
  }

  uint64_t count() const { return units_; }
  int64_t lanes() const { return lanes_; }
  int64_t input_step() const { return block_.nkept == 0 ? 0 : block_.kept_input_step[dim_]; }
  int64_t output_step() const { return block_.nkept == 0 ? 0 : block_.kept_output_step[dim_]; }
  int64_t mask_step() const { return block_.nkept == 0 ? 0 : block_.kept_mask_step[dim_]; }

  ItemUnit unit(uint64_t number) const {
    ItemUnit unit;
    if (block_.nkept == 0) return unit;
    const auto size = block_.kept_size[dim_];
    uint64_t row = number / per_row_;
    const int64_t lane = static_cast<int64_t>(number % per_row_) * lanes_;
    unit.lanes = std::min(lanes_, size - lane);
    unit.first = row * static_cast<uint64_t>(size) + static_cast<uint64_t>(lane);
    advance(&unit, dim_, lane);
    for (int d = 0; d < block_.nkept; ++d) {
      if (d == dim_) continue;
      const auto extent = static_cast<uint64_t>(block_.kept_size[d]);
      advance(&unit, d, static_cast<int64_t>(row % extent));
      row /= extent;
    }
    return unit;
  }

 private:
  void advance(ItemUnit *unit, int d, int64_t by) const {
    unit->input += by * block_.kept_input_step[d];
    unit->output += by * block_.kept_output_step[d];
    unit->mask += by * block_.kept_mask_step[d];
  }

  const guf_method_block &block_;
  int dim_ = 0;
  int64_t lanes_ = 1;
  uint64_t per_row_ = 1, units_ = 1;
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_METHODS_METHOD_ITEMS_H
