// SPDX-License-Identifier: Apache-2.0
// Transposes inputs, runs the loop on each row, and transposes the outputs back.
#include "backends/cpu/loops/tiled_loop.h"

#include <algorithm>
#include <gufunc/backend/steps.hpp>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/transpose.h"

namespace gufunc::cpu {
namespace {

constexpr int64_t kShortestSide = 16;

// Prefetches the cache lines of the next tile, which are too far apart for the hardware prefetcher.
// A prefetch of an unmapped address has no effect.
void fetch_ahead(const char *from, int64_t step, int64_t lines) {
  for (int64_t i = 0; i < lines; ++i) __builtin_prefetch(from + i * step);
}

// Finds the operands that must be transposed,
// because they are contiguous across the loop's rows.
Tiling tiling_of(const guf_launch_block &block, bool by_columns) {
  const int64_t *const along = by_columns ? block.outer_step[0] : block.step;
  const int64_t *const across = by_columns ? block.step : block.outer_step[0];
  Tiling tiling = {by_columns, 0, {}};
  for (int i = 0; i < block.noperands; ++i) {
    const uint32_t size = dtype_size(block.dtype[i]);
    if (across[i] != size || sdk::abs_step(along[i]) < kTileLine) continue;
    if (tiling.count == Tiling::kMaxTransposed) {
      tiling.count = -1;
      return tiling;
    }
    tiling.transposed[tiling.count++] = {
        i, size, (block.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) != 0,
        (block.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) != 0};
  }
  return tiling;
}

bool may_be_tiled(const guf_launch_block &block) {
  constexpr uint32_t kOdd = GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;
  if (block.items < kMinTiledItems || block.nloop < 2 || block.ncore != 0) return false;
  if ((block.flags & kOdd) != 0) return false;
  if (block.size[0] < kShortestSide || block.outer_size[0] < kShortestSide) return false;
  for (int i = 0; i < block.noperands; ++i) {
    if (is_structured(block.dtype[i])) return false;
  }
  return true;
}

}  // namespace

Tiling find_tiling(const guf_launch_block &block) {
  if (!may_be_tiled(block)) return {false, 0, {}};
  const Tiling rows = tiling_of(block, false);
  if (rows.count == 0) return rows;
  const Tiling columns = tiling_of(block, true);
  return columns.count >= 0 && (rows.count < 0 || columns.count < rows.count) ? columns : rows;
}

TiledLoop::TiledLoop(const guf_launch_block &block, const HostLoop &loop, const Tiling &tiling)
    : block_(block),
      loop_(loop),
      tiling_(tiling),
      along_step_(tiling_.by_columns ? block.outer_step[0] : block.step),
      across_step_(tiling_.by_columns ? block.step : block.outer_step[0]) {
  std::copy_n(along_step_, block.noperands, loop_step_);
  for (int k = 0; k < tiling_.count; ++k) {
    const Tiling::Transposed &op = tiling_.transposed[k];
    loop_step_[op.number] = op.size;
    across_ = std::min<int64_t>(across_, kTileLine / op.size);
  }
  place_scratch();
}

TiledLoop::~TiledLoop() {
  cache().release(piece_);
}

ScratchCache &TiledLoop::cache() {
  static constinit ScratchCache cache(Tiling::kMaxTransposed * kTileBytes);
  return cache;
}

void TiledLoop::free_scratch() {
  cache().clear();
}

void TiledLoop::place_scratch() {
  if (tiling_.count > 0 && block_.items >= kMinLongItems) piece_ = cache().acquire();
  if (piece_ != nullptr || tiling_.count == 0) along_ = kLongRow;
  for (int k = 0; k < tiling_.count; ++k) {
    const size_t place = static_cast<size_t>(k) * kTileBytes;
    scratch_[k] = piece_ == nullptr ? stack_[k] : static_cast<char *>(piece_) + place;
  }
}

guf_status TiledLoop::run_rows(char *const *args, int64_t rows) {
  const int64_t most_along = tiling_.by_columns ? rows : block_.size[0];
  const int64_t most_across = tiling_.by_columns ? block_.size[0] : rows;
  for (int64_t c = 0; c < most_along; c += along_) {
    for (int64_t r = 0; r < most_across; r += across_) {
      char *corner[GUF_MAX_OPERANDS];
      for (int i = 0; i < block_.noperands; ++i) {
        corner[i] = args[i] + c * along_step_[i] + r * across_step_[i];
      }
      GUF_BACKEND_TRY(
          run_tile(corner, std::min(along_, most_along - c), std::min(across_, most_across - r)));
    }
  }
  return GUF_OK;
}

guf_status TiledLoop::run_tile(char *const *corner, int64_t along, int64_t across) {
  char *row[GUF_MAX_OPERANDS];
  int64_t next_row[GUF_MAX_OPERANDS];
  std::copy_n(corner, block_.noperands, row);
  std::copy_n(across_step_, block_.noperands, next_row);
  for (int k = 0; k < tiling_.count; ++k) {
    const Tiling::Transposed &op = tiling_.transposed[k];
    row[op.number] = scratch_[k];
    next_row[op.number] = (along_ + kGap) * op.size;
    fetch_ahead(corner[op.number] + across * op.size, along_step_[op.number], along);
    if (!op.in) continue;
    transpose(scratch_[k], next_row[op.number], corner[op.number], along_step_[op.number], along,
              across, op.size);
  }
  const guf_status status = run_tile_rows(row, next_row, along, &across);
  for (int k = 0; k < tiling_.count; ++k) {
    const Tiling::Transposed &op = tiling_.transposed[k];
    if (!op.out) continue;
    transpose(corner[op.number], along_step_[op.number], scratch_[k], next_row[op.number], across,
              along, op.size);
  }
  return status;
}

// On entry, `*across` is the number of rows in the tile. On return, it is the number of rows that
// the loop has completed.
guf_status TiledLoop::run_tile_rows(char *const *row, const int64_t *next_row, int64_t along,
                                    int64_t *across) {
  for (int64_t r = 0; r < *across; ++r) {
    char *call[GUF_MAX_OPERANDS];  // a loop may modify its argument arrays
    for (int i = 0; i < block_.noperands; ++i) call[i] = row[i] + r * next_row[i];
    const guf_status status = loop_(call, &along, loop_step_);
    if (status != GUF_OK) {
      *across = r;
      return status;
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::cpu
