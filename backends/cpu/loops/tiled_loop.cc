// SPDX-License-Identifier: Apache-2.0
// Transposes inputs, runs the loop on each row, and transposes the outputs back.
//
// A block of elements is transposed as squares that fit in SSE2 registers, and the rest element by
// element. SSE2 is part of every x86-64. Wider squares are not faster, because loading the lines
// from memory dominates.
#include "backends/cpu/loops/tiled_loop.h"

#include <emmintrin.h>
#include <gufunc/backend/steps.hpp>

#include <algorithm>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/loops/dtype_layout.h"

namespace gufunc::cpu {
namespace {

__m128i load(const char *from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}
void store(char *to, __m128i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), x);
}

// Transposes a square with a side length of 16 bytes.
template <uint32_t kSize>
void transpose_square(char *to, int64_t to_step, const char *from, int64_t from_step);

template <>
void transpose_square<16>(char *to, int64_t, const char *from, int64_t) {
  store(to, load(from));
}

template <>
void transpose_square<8>(char *to, int64_t to_step, const char *from, int64_t from_step) {
  const __m128i a = load(from);
  const __m128i b = load(from + from_step);
  store(to, _mm_unpacklo_epi64(a, b));
  store(to + to_step, _mm_unpackhi_epi64(a, b));
}

template <>
void transpose_square<4>(char *to, int64_t to_step, const char *from, int64_t from_step) {
  const __m128i a = load(from);
  const __m128i b = load(from + from_step);
  const __m128i c = load(from + 2 * from_step);
  const __m128i d = load(from + 3 * from_step);
  const __m128i ab[] = {_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)};
  const __m128i cd[] = {_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d)};
  for (int half = 0; half < 2; ++half, to += 2 * to_step) {
    store(to, _mm_unpacklo_epi64(ab[half], cd[half]));
    store(to + to_step, _mm_unpackhi_epi64(ab[half], cd[half]));
  }
}

template <>
void transpose_square<2>(char *to, int64_t to_step, const char *from, int64_t from_step) {
  __m128i pair[2][4];  // low and high halves of the lines 2k and 2k + 1
  for (int k = 0; k < 4; ++k, from += 2 * from_step) {
    const __m128i a = load(from);
    const __m128i b = load(from + from_step);
    pair[0][k] = _mm_unpacklo_epi16(a, b);
    pair[1][k] = _mm_unpackhi_epi16(a, b);
  }
  for (const auto &p : pair) {
    const __m128i low[] = {_mm_unpacklo_epi32(p[0], p[1]), _mm_unpackhi_epi32(p[0], p[1])};
    const __m128i high[] = {_mm_unpacklo_epi32(p[2], p[3]), _mm_unpackhi_epi32(p[2], p[3])};
    for (int half = 0; half < 2; ++half, to += 2 * to_step) {
      store(to, _mm_unpacklo_epi64(low[half], high[half]));
      store(to + to_step, _mm_unpackhi_epi64(low[half], high[half]));
    }
  }
}

template <uint32_t kSize>
void transpose_one_by_one(char *to, int64_t to_step, const char *from, int64_t from_step,
                          int64_t lines, int64_t length) {
  for (int64_t j = 0; j < length; ++j) {
    for (int64_t i = 0; i < lines; ++i) {
      std::memcpy(to + j * to_step + i * kSize, from + i * from_step + j * kSize, kSize);
    }
  }
}

template <uint32_t kSize>
void transpose_all(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t lines,
                   int64_t length) {
  constexpr int64_t kSide = 16 / kSize;
  const int64_t square_lines = lines - lines % kSide;
  const int64_t square_length = length - length % kSide;
  for (int64_t i = 0; i < square_lines; i += kSide) {
    for (int64_t j = 0; j < square_length; j += kSide) {
      transpose_square<kSize>(to + j * to_step + i * kSize, to_step,
                              from + i * from_step + j * kSize, from_step);
    }
  }
  transpose_one_by_one<kSize>(to + square_length * to_step, to_step, from + square_length * kSize,
                              from_step, square_lines, length - square_length);
  transpose_one_by_one<kSize>(to + square_lines * kSize, to_step, from + square_lines * from_step,
                              from_step, lines - square_lines, length);
}

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
  if (block.items < kMinTiledItems || block.nloop < 2 || block.ncore != 0) return false;
  if ((block.flags & kMaskedOrStagedFlags) != 0) return false;
  if (block.size[0] < kShortestSide || block.outer_size[0] < kShortestSide) return false;
  for (int i = 0; i < block.noperands; ++i) {
    if (is_structured(block.dtype[i])) return false;
  }
  return true;
}

}  // namespace

void transpose(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t lines,
               int64_t length, uint32_t size) {
  switch (size) {
    case 1:
      return transpose_one_by_one<1>(to, to_step, from, from_step, lines, length);
    case 2:
      return transpose_all<2>(to, to_step, from, from_step, lines, length);
    case 4:
      return transpose_all<4>(to, to_step, from, from_step, lines, length);
    case 8:
      return transpose_all<8>(to, to_step, from, from_step, lines, length);
    default:
      return transpose_all<16>(to, to_step, from, from_step, lines, length);
  }
}

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
