// SPDX-License-Identifier: Apache-2.0
// Tiles: turn inputs, run the loop on each row, turn outputs back.
#include "backends/cpu/crossed_loop.h"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/cpu_host.h"
#include "backends/cpu/dtype_layout.h"
#include "backends/cpu/transpose.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kShortestSide = 16;

// Contiguous along one dimension, from line to line along the other.
bool lies_along(int64_t step, int64_t other_step, int64_t size, int64_t line) {
  return step == size && std::abs(other_step) >= line;
}

// The next tile's lines, which lie too far from each other for the processor to guess. A prefetch
// of memory that is not there does nothing.
void fetch_ahead(const char *from, int64_t step, int64_t lines) {
  for (int64_t i = 0; i < lines; ++i) __builtin_prefetch(from + i * step);
}

}  // namespace

// The operands that lie across the rows; how many, or -1 when they are too many.
int CrossedLoop::choose_turned(const guf_launch_block &block, bool by_columns, Turned *turned) {
  const int64_t *const along = by_columns ? block.outer_step[0] : block.step;
  const int64_t *const across = by_columns ? block.step : block.outer_step[0];
  int count = 0;
  for (int i = 0; i < block.noperands; ++i) {
    const uint32_t size = dtype_bytes(block.dtype[i]);
    if (!lies_along(across[i], along[i], size, kLine)) continue;
    if (count == kMostTurned) return -1;
    turned[count++] = {i, size, (block.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) != 0,
                       (block.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) != 0};
  }
  return count;
}

bool is_crossed(const guf_launch_block &block) {
  constexpr uint32_t kOdd = GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;
  if (block.items < kFewestCrossedItems || block.nloop < 2 || block.ncore != 0) return false;
  if ((block.flags & kOdd) != 0) return false;
  if (block.size[0] < kShortestSide || block.outer_size[0] < kShortestSide) return false;
  for (int i = 0; i < block.noperands; ++i) {
    if (is_record(block.dtype[i])) return false;
  }
  CrossedLoop::Turned turned[CrossedLoop::kMostTurned];
  return CrossedLoop::choose_turned(block, false, turned) > 0;
}

CrossedLoop::CrossedLoop(const guf_launch_block &block, const HostLoop &loop)
    : block_(block), loop_(loop), by_columns_(false) {
  nturned_ = choose_turned(block, false, turned_);
  Turned other[kMostTurned];
  const int nother = choose_turned(block, true, other);
  if (nother >= 0 && nother < nturned_) {
    by_columns_ = true;
    nturned_ = nother;
    std::copy_n(other, nother, turned_);
  }
  along_step_ = by_columns_ ? block.outer_step[0] : block.step;
  across_step_ = by_columns_ ? block.step : block.outer_step[0];
  std::copy_n(along_step_, block.noperands, loop_step_);
  across_ = kLine;
  for (int k = 0; k < nturned_; ++k) {
    loop_step_[turned_[k].number] = turned_[k].size;
    across_ = std::min<int64_t>(across_, kLine / turned_[k].size);
  }
}

guf_status CrossedLoop::run_rows(char *const *args, int64_t rows) {
  const int64_t most_along = by_columns_ ? rows : block_.size[0];
  const int64_t most_across = by_columns_ ? block_.size[0] : rows;
  for (int64_t c = 0; c < most_along; c += kAlong) {
    for (int64_t r = 0; r < most_across; r += across_) {
      char *corner[GUF_MAX_OPERANDS];
      for (int i = 0; i < block_.noperands; ++i) {
        corner[i] = args[i] + c * along_step_[i] + r * across_step_[i];
      }
      GUF_CPU_TRY(
          run_tile(corner, std::min(kAlong, most_along - c), std::min(across_, most_across - r)));
    }
  }
  return GUF_OK;
}

guf_status CrossedLoop::run_tile(char *const *corner, int64_t along, int64_t across) {
  char *row[GUF_MAX_OPERANDS];
  int64_t next_row[GUF_MAX_OPERANDS];
  std::copy_n(corner, block_.noperands, row);
  std::copy_n(across_step_, block_.noperands, next_row);
  for (int k = 0; k < nturned_; ++k) {
    const Turned &op = turned_[k];
    const int64_t row_bytes = kRowItems * op.size;
    fetch_ahead(corner[op.number] + across * op.size, along_step_[op.number], along);
    row[op.number] = scratch_[k];
    next_row[op.number] = row_bytes;
    if (!op.in) continue;
    transpose(scratch_[k], row_bytes, corner[op.number], along_step_[op.number], along, across,
              op.size);
  }
  for (int64_t r = 0; r < across; ++r) {
    char *call[GUF_MAX_OPERANDS];  // a loop may change what it is given
    for (int i = 0; i < block_.noperands; ++i) call[i] = row[i] + r * next_row[i];
    GUF_CPU_TRY(loop_(call, &along, loop_step_));
  }
  for (int k = 0; k < nturned_; ++k) {
    const Turned &op = turned_[k];
    if (!op.out) continue;
    transpose(corner[op.number], along_step_[op.number], scratch_[k], kRowItems * op.size, across,
              along, op.size);
  }
  return GUF_OK;
}

}  // namespace gufunc::cpu
