// SPDX-License-Identifier: Apache-2.0
// PERF  The base blocks of a contiguous row are reduced 256 at a time and then combined level by
//       level, so that one call of the fold entry processes many blocks. Contiguous lanes are
//       passed to the fold entry as vectors.
#include "backends/cpu/methods/method_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "backends/cpu/loops/element_convert.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kLeaf = GUF_LEAF_SIZE;
// Limit in bytes of the partial results that one call computes side by side, if elements are read
// in place.
constexpr int64_t kFastBytes = 2048;
// The same limit if elements are copied first.
constexpr int64_t kSlowBytes = 256;
constexpr int64_t kRowLeaves = 256;
// The number of base blocks in the first group if a result may become final early.
constexpr int64_t kFirstLeaves = 256;
constexpr int64_t kShortRowLeaves = 16;
// The size of a group of rows that are reduced together. The group stays in the L2 cache.
constexpr int64_t kGroupBytes = 256 * 1024;

int64_t leaves_of(int64_t n) {
  // The rounded-up division must not overflow, because n may be close to INT64_MAX.
  return n / kLeaf + (n % kLeaf != 0 ? 1 : 0);
}

int64_t subtree_of(int64_t leaves) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(leaves, 1))));
}

enum class Mask { kNone, kSome, kAll };

Mask judge(LaneRun lanes, int64_t n, int64_t step) {
  bool any = false, all = true;
  for (int64_t k = 0; k < lanes.count; ++k) {
    const char *mask = lanes.mask + k * lanes.mask_step;
    for (int64_t i = 0; i < n; ++i) {
      const bool set = mask[i * step] != 0;
      any |= set;
      all &= set;
    }
    if (any && !all) return Mask::kSome;
  }
  return all ? Mask::kAll : Mask::kNone;
}

}  // namespace

int64_t TreeFolder::most_lanes() const {
  const bool fast_enough = streams() && !source_->staged() && (!fold_.tree() || fast());
  return std::max<int64_t>((fast_enough ? kFastBytes : kSlowBytes) / fold_.partial_bytes(), 1);
}

guf_status TreeFolder::run_range(int last, LaneRun lanes, int64_t n, Lanes out, const char *start) {
  if (!fold_.tree()) return left_fold(last, lanes, n, out, start);
  if (n <= kLeaf) return reduce_base_block(last, lanes, n, out);
  const int64_t step = shape_.step[last], mask_step = shape_.mask_step[last];
  const bool by_rows = abs_step(lanes.step) > abs_step(step);
  if (last == 0 && (lanes.count == 1 || (fast() && by_rows))) return rows(lanes, n, out);
  const MethodScratch::Scope scope(scratch_);
  TreeJoiner joiner(fold_, scratch_);
  if (!joiner.open(lanes.count, leaves_of(n), masked_)) return GUF_E_NO_MEMORY;
  for (int64_t i = 0; i < n; i += kLeaf) {
    GUF_BACKEND_TRY(reduce_base_block(last, lanes.moved(i * step, i * mask_step),
                                      std::min(kLeaf, n - i), joiner.next()));
    GUF_BACKEND_TRY(joiner.push());
  }
  return joiner.finish(out);
}

// Reduces rows whose elements are closer to each other than to the elements of the next row.
guf_status TreeFolder::rows(LaneRun lanes, int64_t n, Lanes out) {
  // For integers any order is correct, so each row is one long base block.
  const bool packed = fast() && !source_->staged() && shape_.step[0] == fold_.value_bytes();
  if (fold_.exact() && packed && !fold_.has_absorbing()) {
    return leaves({lanes.base, lanes.step, shape_.step[0]}, lanes.count, n, out.value,
                  fold_.partial_bytes());
  }
  const int64_t nleaves = leaves_of(n);
  if (lanes.count == 1 || nleaves >= kShortRowLeaves || source_->staged()) {
    LaneRun row = lanes;
    row.count = 1;
    for (int64_t k = 0; k < lanes.count; ++k) {
      GUF_BACKEND_TRY(
          long_row(row.moved(k * lanes.step, k * lanes.mask_step), n, fold_.at(out, k)));
    }
    return GUF_OK;
  }
  // Computes several rows together, with the layout [base block][row],
  // so that each call combines values of all rows.
  const MethodScratch::Scope scope(scratch_);
  const int64_t size = fold_.partial_bytes(), step = shape_.step[0];
  const int64_t group = std::min(std::max<int64_t>(kGroupBytes / (size * n), 4), lanes.count);
  const Lanes one = fold_.allocate(scratch_, group * nleaves, false);
  const Lanes other = fold_.allocate(scratch_, group * nleaves, false);
  if (one.value == nullptr || other.value == nullptr) return GUF_E_NO_MEMORY;
  const int64_t full = n / kLeaf, rest = n % kLeaf;
  for (int64_t first = 0; first < lanes.count; first += group) {
    const int64_t count = std::min(group, lanes.count - first);
    const char *const base = lanes.base + first * lanes.step;
    for (int64_t i = 0; i < nleaves; ++i) {
      GUF_BACKEND_TRY(leaves({base + i * kLeaf * step, lanes.step, step}, count,
                             i < full ? kLeaf : rest, one.value + i * count * size, size));
    }
    Lanes values = one, scratch = other;
    GUF_BACKEND_TRY(pairs(&values, &scratch, count, nleaves));
    fold_.copy(values, fold_.at(out, first), count);
  }
  return GUF_OK;
}

// Reduces one row. Several base blocks are computed at the same time, one in each lane.
guf_status TreeFolder::long_row(LaneRun row, int64_t n, Lanes out) {
  const MethodScratch::Scope scope(scratch_);
  const int64_t step = shape_.step[0], mask_step = shape_.mask_step[0];
  const bool direct = fast() && !source_->staged();
  // The number of base blocks in a group is a power of two, so that the group is a subtree of the
  // row's tree.
  const int64_t group = direct ? kRowLeaves : subtree_of(kSlowBytes / fold_.partial_bytes());
  // For integers any order is correct, so neighbouring elements become
  // neighbouring lanes, which are read as vectors.
  const bool across = fold_.exact();
  const Lanes one = fold_.allocate(scratch_, group + 1, masked_);
  const Lanes other = fold_.allocate(scratch_, group + 1, masked_);
  TreeJoiner joiner(fold_, scratch_);
  int64_t width = fold_.has_absorbing() ? std::min(kFirstLeaves, group) : group;
  if (one.value == nullptr || other.value == nullptr ||
      !joiner.open(1, n / (width * kLeaf) + 1, masked_)) {
    return GUF_E_NO_MEMORY;
  }
  for (int64_t i = 0, count; i < n; i += count, width = std::min(width * 4, group)) {
    count = std::min(width * kLeaf, n - i);
    const int64_t full = count / kLeaf, rest = count % kLeaf;
    LaneRun run = row.moved(i * step, i * mask_step);
    if (full != 0) {
      run.count = full;
      run.step = across ? step : kLeaf * step;
      run.mask_step = across ? mask_step : kLeaf * mask_step;
      GUF_BACKEND_TRY(reduce_base_block_by(run, across ? full * step : step,
                                           across ? full * mask_step : mask_step, kLeaf, one));
    }
    if (rest != 0) {
      run = row.moved((i + full * kLeaf) * step, (i + full * kLeaf) * mask_step);
      GUF_BACKEND_TRY(reduce_base_block_by(run, step, mask_step, rest, fold_.at(one, full)));
    }
    Lanes values = one, scratch = other;
    GUF_BACKEND_TRY(pairs(&values, &scratch, 1, full + (rest != 0 ? 1 : 0)));
    if (!masked_ && fold_.is_absorbing(values.value)) {
      fold_.copy(values, out, 1);
      return GUF_OK;
    }
    fold_.copy(values, joiner.next(), 1);
    GUF_BACKEND_TRY(joiner.push());
  }
  return joiner.finish(out);
}

// Combines `count` subtrees with the layout [subtree][lane].
// On return, *values contains the result.
guf_status TreeFolder::pairs(Lanes *values, Lanes *scratch, int64_t lanes, int64_t count) {
  for (; count > 1; count = (count + 1) / 2) {
    const int64_t half = count / 2;
    if (lanes == 1) {
      GUF_BACKEND_TRY(fold_.combine(*values, 2, fold_.at(*values, 1), 2, *scratch, half, scratch_));
    } else {
      for (int64_t k = 0; k < half; ++k) {
        GUF_BACKEND_TRY(fold_.combine(fold_.at(*values, 2 * k * lanes), 1,
                                      fold_.at(*values, (2 * k + 1) * lanes), 1,
                                      fold_.at(*scratch, k * lanes), lanes, scratch_));
      }
    }
    if (count % 2 != 0) {
      fold_.copy(fold_.at(*values, (count - 1) * lanes), fold_.at(*scratch, half * lanes), lanes);
    }
    std::swap(*values, *scratch);
  }
  return GUF_OK;
}

guf_status TreeFolder::reduce_base_block(int dim, LaneRun lanes, int64_t n, Lanes out) {
  if (dim == 0) return reduce_base_block_by(lanes, shape_.step[0], shape_.mask_step[0], n, out);
  const MethodScratch::Scope scope(scratch_);
  const Lanes elements = fold_.allocate(scratch_, n * lanes.count, masked_);
  if (elements.value == nullptr) return GUF_E_NO_MEMORY;
  GUF_BACKEND_TRY(elements_of(dim, lanes, n, elements));
  return fold_.base_block(elements, lanes.count, n, out, scratch_);
}

// Reduces one base block of dimension 0 in each lane.
guf_status TreeFolder::reduce_base_block_by(LaneRun lanes, int64_t step, int64_t mask_step,
                                            int64_t n, Lanes out) {
  const bool direct =
      fold_.folds_at_once() && (source_ != nullptr || fold_.partial_bytes() == fold_.value_bytes());
  Mask mask = Mask::kAll;
  if (masked_) mask = judge(lanes, n, mask_step);
  const MethodScratch::Scope scope(scratch_);
  if (masked_ && mask != Mask::kSome) {
    std::memset(out.present, mask == Mask::kAll, static_cast<size_t>(lanes.count));
  }
  if (mask == Mask::kNone) {
    std::memset(out.value, 0, static_cast<size_t>(lanes.count * fold_.partial_bytes()));
    return GUF_OK;
  }
  if (direct && mask == Mask::kAll) {
    Tile tile{lanes.base, lanes.step, step};
    if (source_ != nullptr) tile = source_->fetch(tile, lanes.count, n, scratch_);
    if (tile.base == nullptr) return GUF_E_NO_MEMORY;
    return leaves(tile, lanes.count, n, out.value, fold_.partial_bytes());
  }
  const Lanes elements = fold_.allocate(scratch_, n * lanes.count, masked_);
  if (elements.value == nullptr) return GUF_E_NO_MEMORY;
  GUF_BACKEND_TRY(read_elements(lanes, step, mask_step, n, elements));
  return fold_.base_block(elements, lanes.count, n, out, scratch_);
}

guf_status TreeFolder::leaves(Tile tile, int64_t lanes, int64_t n, char *out,
                              int64_t out_step) const {
  char *args[2] = {const_cast<char *>(tile.base), out};
  const int64_t dims[3] = {GUF_FOLD_LEAVES, lanes, n};
  const int64_t steps[3] = {tile.lane_step, tile.step, out_step};
  return fold_.entry()(args, dims, steps);
}

// Reduces one row by a left fold in the fold entry.
guf_status TreeFolder::reduce_row(LaneRun row, int64_t n, Lanes out, const char *start) {
  const int64_t step = shape_.step[0], most = source_->staged() ? kLeaf * 4 : n;
  for (int64_t i = 0; i < n; i += most) {
    const MethodScratch::Scope scope(scratch_);
    const int64_t count = std::min(most, n - i);
    const Tile tile = source_->fetch({row.base + i * step, 0, step}, 1, count, scratch_);
    if (tile.base == nullptr) return GUF_E_NO_MEMORY;
    const char *const before = i == 0 ? start : out.value;
    GUF_BACKEND_TRY(fold_.scan({tile.base, 0, tile.step, out.value, 0, 0, before, 0}, 1, count));
  }
  return GUF_OK;
}

// Reduces several independent rows side by side, each from its first element to its last, without
// copying the elements.
guf_status TreeFolder::fold_lanes(LaneRun lanes, int64_t n, Lanes out, const char *start) {
  const int64_t size = fold_.partial_bytes(), step = shape_.step[0];
  const char *const first = start == nullptr ? lanes.base : start;
  copy_elements(out.value, size, first, start == nullptr ? lanes.step : 0, lanes.count,
                static_cast<uint32_t>(size), 0);
  for (int64_t i = start == nullptr ? 1 : 0; i < n; ++i) {
    GUF_BACKEND_TRY(fold_.join(out.value, size, lanes.base + i * step, lanes.step, out.value, size,
                               lanes.count));
  }
  return GUF_OK;
}

// Reduces lanes by a left fold, in blocks of elements.
guf_status TreeFolder::left_fold(int dim, LaneRun lanes, int64_t n, Lanes out, const char *start) {
  if (streams()) {
    const bool along_lanes = abs_step(lanes.step) < abs_step(shape_.step[0]);
    if (lanes.count == 1 && fold_.has_chain()) return reduce_row(lanes, n, out, start);
    if (along_lanes && !source_->staged()) return fold_lanes(lanes, n, out, start);
  }
  const MethodScratch::Scope scope(scratch_);
  const int64_t size = fold_.partial_bytes(), most = std::max<int64_t>(kSlowBytes / size, 1);
  if (lanes.count > most) {
    for (int64_t k = 0; k < lanes.count; k += most) {
      LaneRun some = lanes.moved(k * lanes.step, k * lanes.mask_step);
      some.count = std::min(most, lanes.count - k);
      GUF_BACKEND_TRY(left_fold(dim, some, n, fold_.at(out, k), start));
    }
    return GUF_OK;
  }
  const Lanes elements = fold_.allocate(scratch_, std::min(n, kLeaf) * lanes.count, masked_);
  if (elements.value == nullptr) return GUF_E_NO_MEMORY;
  for (int64_t k = 0; start != nullptr && k < lanes.count; ++k) {
    std::memcpy(out.value + k * size, start, static_cast<size_t>(size));
    if (masked_) out.present[k] = 1;
  }
  for (int64_t i = 0; i < n; i += kLeaf) {
    const int64_t count = std::min(kLeaf, n - i);
    GUF_BACKEND_TRY(elements_of(dim, lanes.moved(i * shape_.step[dim], i * shape_.mask_step[dim]),
                                count, elements));
    const bool first = i == 0 && start == nullptr;
    if (first) fold_.copy(elements, out, lanes.count);
    for (int64_t k = first ? 1 : 0; k < count; ++k) {
      GUF_BACKEND_TRY(fold_.combine(out, 1, fold_.at(elements, k * lanes.count), 1, out,
                                    lanes.count, scratch_));
    }
  }
  return GUF_OK;
}

// Reads `n` elements of a dimension into the layout [element][lane].
// For dimension 0, they are elements of the operand. For any other dimension, each of them is the
// result of reducing the dimensions below it.
guf_status TreeFolder::elements_of(int dim, LaneRun lanes, int64_t n, Lanes out) {
  if (dim == 0) return read_elements(lanes, shape_.step[0], shape_.mask_step[0], n, out);
  const int64_t step = shape_.step[dim], mask_step = shape_.mask_step[dim];
  if (lanes.count > 1) {
    for (int64_t i = 0; i < n; ++i) {
      GUF_BACKEND_TRY(
          run(dim - 1, lanes.moved(i * step, i * mask_step), fold_.at(out, i * lanes.count)));
    }
    return GUF_OK;
  }
  for (int64_t i = 0; i < n; i += most_lanes()) {
    LaneRun run_of = lanes.moved(i * step, i * mask_step);
    run_of.count = std::min(most_lanes(), n - i);
    run_of.step = step;
    run_of.mask_step = mask_step;
    GUF_BACKEND_TRY(run(dim - 1, run_of, fold_.at(out, i)));
  }
  return GUF_OK;
}

guf_status TreeFolder::read_elements(LaneRun lanes, int64_t step, int64_t mask_step, int64_t n,
                                     Lanes out) {
  const MethodScratch::Scope scope(scratch_);
  const int64_t size = fold_.partial_bytes(), count = lanes.count;
  for (int64_t i = 0; masked_ && i < n; ++i) {
    for (int64_t k = 0; k < count; ++k) {
      out.present[i * count + k] = lanes.mask[k * lanes.mask_step + i * mask_step] != 0 ? 1 : 0;
    }
  }
  Tile tile{lanes.base, lanes.step, step};
  if (source_ != nullptr) tile = source_->fetch(tile, count, n, scratch_);
  if (tile.base == nullptr) return GUF_E_NO_MEMORY;
  const bool by_lane = n > 1 && (count == 1 || abs_step(tile.step) < abs_step(tile.lane_step));
  for (int64_t i = 0; i < (by_lane ? count : n); ++i) {
    const char *from = tile.base + i * (by_lane ? tile.lane_step : tile.step);
    char *to = out.value + i * (by_lane ? size : size * count);
    const int64_t from_step = by_lane ? tile.step : tile.lane_step;
    const int64_t to_step = by_lane ? size * count : size;
    if (source_ == nullptr) {
      copy_elements(to, to_step, from, from_step, by_lane ? n : count, static_cast<uint32_t>(size),
                    0);
    } else {
      GUF_BACKEND_TRY(fold_.load(from, from_step, to, to_step, by_lane ? n : count));
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::cpu
