// SPDX-License-Identifier: Apache-2.0
// Runs a loop over operands that lie across one another: rows of one are columns of another.
#ifndef GUFUNC_BACKENDS_CPU_CROSSED_LOOP_H
#define GUFUNC_BACKENDS_CPU_CROSSED_LOOP_H

#include <gufunc/backend.h>

#include "backends/cpu/host_loop.h"
#include "backends/cpu/scratch_shelf.h"

namespace gufunc::cpu {

// Launches of fewer items are never looked at: one comparison for them.
inline constexpr uint64_t kFewestCrossedItems = 1024;

// Work is cut at multiples of so many rows, so that few tiles are cut.
inline constexpr int64_t kCrossedRows = 64;

inline constexpr int64_t kCrossedLine = 64;  // bytes

// How the tiles of a launch lie.
struct CrossedWay {
  static constexpr int kMostTurned = 2;

  struct Turned {
    int number;  // among the launch's operands
    uint32_t size;
    bool in, out;
  };
  bool by_columns;  // the loop's rows are those of dimension 1
  int count;        // operands that lie across these rows; -1: too many
  Turned turned[kMostTurned];

  // Rows of dimension 0 that nothing lies across need no tiles.
  bool is_crossed() const { return count > 0 || by_columns; }
};

// The way in which fewer operands are turned. Crossed: some operand is contiguous along one of
// dimensions 0 and 1 and steps over whole lines along the loop's, and every operand is one that
// the loop takes as it is.
CrossedWay crossed_way(const guf_launch_block &block);

// Goes tile by tile of the two dimensions. Operands that lie across the tile's rows are turned
// into scratch memory or out of it, so that the loop's rows are contiguous and each line of memory
// is moved once (bench: add f32 1000x1000 to a transposed output: 0.7 -> 1.7 of NumPy's speed). One
// object per chunk of work, on the stack.
class CrossedLoop {
 public:
  // `way` is that of `block`, and crossed.
  CrossedLoop(const guf_launch_block &block, const HostLoop &loop, const CrossedWay &way);
  ~CrossedLoop();
  CrossedLoop(const CrossedLoop &) = delete;
  CrossedLoop &operator=(const CrossedLoop &) = delete;

  // `rows` whole rows of dimension 0 that follow each other along dimension 1.
  guf_status run_rows(char *const *args, int64_t rows);

  // Frees the scratch memory that is kept for later launches.
  static void free_scratch();

 private:
  // Items of a tile's row. Long ones let the other operands be read as streams, from memory of the
  // shelf, which small launches do without and large ones when there is none.
  static constexpr int64_t kShortRow = 128;
  static constexpr int64_t kLongRow = 1024;
  static constexpr uint64_t kFewestLongItems = 64 << 10;
  static constexpr int64_t kGap = 16;  // between rows in scratch, which must not share a set
  static constexpr size_t kTileBytes = (kLongRow + kGap) * kCrossedLine;

  static ScratchShelf &shelf();

  void place_scratch();
  guf_status run_tile(char *const *corner, int64_t along, int64_t across);
  guf_status run_tile_rows(char *const *row, const int64_t *next_row, int64_t along,
                           int64_t *across);

  const guf_launch_block &block_;
  const HostLoop &loop_;
  const CrossedWay &way_;
  const int64_t *const along_step_, *const across_step_;
  int64_t across_ = kCrossedLine;  // most rows of a tile
  int64_t along_ = kShortRow;
  int64_t loop_step_[GUF_MAX_OPERANDS];
  char *scratch_[CrossedWay::kMostTurned];
  void *piece_ = nullptr;  // of the shelf
  alignas(kCrossedLine) char stack_[CrossedWay::kMostTurned][(kShortRow + kGap) * kCrossedLine];
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CROSSED_LOOP_H
