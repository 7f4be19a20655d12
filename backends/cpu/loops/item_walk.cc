// SPDX-License-Identifier: Apache-2.0
// Iterates over the rows of a launch and over the runs of items that a mask selects. A plane
// consists of the rows along dimension 1.
#include "backends/cpu/loops/item_walk.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/non_temporal_loop.h"
#include "backends/cpu/loops/staged_loop.h"

namespace gufunc::cpu {
namespace {

// Iterates over the rows of a launch. Provides the addresses of the current row.
class RowWalk {
 public:
  RowWalk(const guf_launch_block &block, uint64_t row) : block_(block) {
    for (int i = 0; i < block.noperands; ++i) row_[i] = reinterpret_cast<char *>(block.address[i]);
    mask_ = reinterpret_cast<const char *>(block.mask);
    for (int d = 0; d + 1 < block.nloop; ++d) {
      const auto size = static_cast<uint64_t>(block.outer_size[d]);
      index_[d] = static_cast<int64_t>(row % size);
      row /= size;
      advance(d, index_[d]);
    }
  }

  char *const *row() const { return row_; }
  const char *mask() const { return mask_; }
  // Returns the number of rows from the current row to the end of its plane.
  int64_t rows_left() const { return block_.outer_size[0] - index_[0]; }

  // Advances by `rows` rows, at most rows_left().
  void skip(int64_t rows) {
    index_[0] += rows - 1;
    advance(0, rows - 1);
    next();
  }

  void next() {
    for (int d = 0; d + 1 < block_.nloop; ++d) {
      if (++index_[d] < block_.outer_size[d]) return advance(d, 1);
      index_[d] = 0;
      advance(d, 1 - block_.outer_size[d]);
    }
  }

 private:
  void advance(int d, int64_t by) {
    for (int i = 0; i < block_.noperands; ++i) row_[i] += by * block_.outer_step[d][i];
    if (mask_ != nullptr) mask_ += by * block_.mask_step[d + 1];
  }

  const guf_launch_block &block_;
  int64_t index_[GUF_MAX_LOOP_NDIM - 1] = {};
  char *row_[GUF_MAX_OPERANDS];
  const char *mask_;
};

// Calls the loop directly on the operands.
class DirectLoop {
 public:
  DirectLoop(const guf_launch_block &block, const HostLoop &loop) : block_(block), loop_(loop) {
    std::copy_n(block.size, 1 + block.ncore, dims_);
  }

  guf_status run_row(char *const *args, int64_t count) {
    char *call[GUF_MAX_OPERANDS];  // a loop may modify its argument arrays
    std::copy_n(args, block_.noperands, call);
    dims_[0] = count;
    return loop_(call, dims_, block_.step);
  }

  // Calls the loop once per row and steps along dimension 1 from row to row. Rows may be short, so
  // there is little work between two calls of the loop.
  guf_status run_rows(char *const *args, int64_t rows) {
    const int n = block_.noperands;
    char *row[GUF_MAX_OPERANDS], *call[GUF_MAX_OPERANDS];
    std::copy_n(args, n, row);
    dims_[0] = block_.size[0];
    for (int64_t r = 0; r < rows; ++r) {
      for (int i = 0; i < n; ++i) {
        call[i] = row[i];
        row[i] += block_.outer_step[0][i];
      }
      GUF_BACKEND_TRY(loop_(call, dims_, block_.step));
    }
    return GUF_OK;
  }

 private:
  const guf_launch_block &block_;
  const HostLoop &loop_;
  int64_t dims_[1 + GUF_MAX_CORE_NAMES];
};

// Returns the first index in [from, count) whose mask byte is equal to `requested`, or `count` if
// there is none.
int64_t find_mask(const char *mask, int64_t step, int64_t from, int64_t count, bool requested) {
  if (step == 1) {
    // Skips eight mask bytes with the other value at a time. A bool is 0 or 1.
    const uint64_t other = requested ? 0 : 0x0101010101010101u;
    for (uint64_t word; from + 8 <= count; from += 8) {
      std::memcpy(&word, mask + from, 8);
      if (word != other) break;
    }
  }
  while (from < count && (mask[from * step] != 0) != requested) ++from;
  return from;
}

template <class Loop>
guf_status run_masked_row(Loop &loop, const guf_launch_block &block, char *const *args,
                          const char *mask, int64_t count) {
  const int64_t step = block.mask_step[0];
  for (int64_t begin = find_mask(mask, step, 0, count, true); begin < count;) {
    const int64_t end = find_mask(mask, step, begin, count, false);
    char *run[GUF_MAX_OPERANDS];
    for (int i = 0; i < block.noperands; ++i) run[i] = args[i] + begin * block.step[i];
    GUF_BACKEND_TRY(loop.run_row(run, end - begin));
    begin = find_mask(mask, step, end, count, true);
  }
  return GUF_OK;
}

template <class Loop>
guf_status run_range(Loop &loop, const guf_launch_block &block, uint64_t first, uint64_t last) {
  const auto row_items = static_cast<uint64_t>(block.size[0]);
  RowWalk walk(block, first / row_items);
  uint64_t offset = first % row_items;
  while (first < last) {
    const auto begin = static_cast<int64_t>(offset);
    const auto count = static_cast<int64_t>(std::min(row_items - offset, last - first));
    char *part[GUF_MAX_OPERANDS];
    char *const *args = walk.row();
    if (begin != 0) {
      for (int i = 0; i < block.noperands; ++i) part[i] = args[i] + begin * block.step[i];
      args = part;
    }
    if (walk.mask() != nullptr) {
      GUF_BACKEND_TRY(
          run_masked_row(loop, block, args, walk.mask() + begin * block.mask_step[0], count));
    } else {
      GUF_BACKEND_TRY(loop.run_row(args, count));
    }
    first += static_cast<uint64_t>(count);
    offset = 0;
    walk.next();
  }
  return GUF_OK;
}

bool is_whole_rows(const guf_launch_block &block, uint64_t first, uint64_t last) {
  const auto row_items = static_cast<uint64_t>(block.size[0]);
  return block.nloop >= 2 && block.mask == 0 && first % row_items == 0 && last % row_items == 0;
}

// Runs whole rows without a mask. Each call of run_rows gets as many rows of one plane as possible.
template <class Loop>
guf_status run_planes(Loop &loop, const guf_launch_block &block, uint64_t first, uint64_t last) {
  const auto row_items = static_cast<uint64_t>(block.size[0]);
  RowWalk walk(block, first / row_items);
  for (auto left = static_cast<int64_t>((last - first) / row_items); left > 0;) {
    const int64_t rows = std::min(walk.rows_left(), left);
    GUF_BACKEND_TRY(loop.run_rows(walk.row(), rows));
    walk.skip(rows);
    left -= rows;
  }
  return GUF_OK;
}

}  // namespace

ItemTraversal item_traversal(const guf_launch_block &block) {
  ItemTraversal traversal = {};
  traversal.walk = Walk::kRows;
  if ((block.flags & (GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED)) != 0) {
    traversal.walk = Walk::kStaged;
    return traversal;
  }
  traversal.tiles = find_tiling(block);
  if (traversal.tiles.is_tiled()) {
    traversal.walk = Walk::kTiles;
  } else if (__builtin_expect(uses_non_temporal_stores(block), 0)) {
    traversal.walk = Walk::kNonTemporal;
  }
  return traversal;
}

guf_status run_items(const guf_launch_block &block, const HostLoop &loop,
                     const ItemTraversal &traversal, uint64_t first, uint64_t last,
                     guf_error *error) {
  if (first >= last) return GUF_OK;
  switch (traversal.walk) {
    case Walk::kStaged: {
      StagedLoop staged;
      GUF_BACKEND_TRY(staged.open(block, loop, error));
      return run_range(staged, block, first, last);
    }
    case Walk::kTiles: {
      TiledLoop tiled(block, loop, traversal.tiles);
      return run_planes(tiled, block, first, last);
    }
    case Walk::kNonTemporal: {
      NonTemporalLoop non_temporal(block, loop);
      return run_range(non_temporal, block, first, last);
    }
    default: {
      DirectLoop direct(block, loop);
      return is_whole_rows(block, first, last) ? run_planes(direct, block, first, last)
                                               : run_range(direct, block, first, last);
    }
  }
}

}  // namespace gufunc::cpu
