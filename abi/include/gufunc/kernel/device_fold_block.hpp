// SPDX-License-Identifier: Apache-2.0
// What the entries of methods receive: `leaves` and `join` (the tree), `fold` (from the left),
// `scan` and `at`. A pass folds one dimension; what it keeps are its lanes, numbered with dimension
// 0 fastest. Partial results lie as [slot][lane]; where some may be absent, a byte each says which
// are there.
//
// The accumulator type A of a tree is X, but f32 where X is f16 or bf16. Steps and addresses are
// bytes; a launch has less than 2^31 lanes, blocks and work-items.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_BLOCK_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_BLOCK_HPP

#include "device_block.hpp"
#include "device_form.hpp"

namespace guf {
namespace device {

enum {
  kLaneDims = 15,      // 8 kept dimensions, and 7 that are folded later
  kFoldThreads = 256,  // of a block of leaves, join, fold and at
  kJoinRun = 8,        // partial results that a thread of join takes
  kScanThreads = 128,  // of a block of scan: tiles side by side
  kScanRun = 16,       // elements of each that pass through shared memory together
  kFoldInitialBytes = 16
};

struct lane_dims {
  u64 pitch;  // lanes of the whole pass: what stands between two slots
  u32 lanes;  // of this launch
  u32 ndim;
  divisor size[kLaneDims];
  i64 input[kLaneDims], mask[kLaneDims], output[kLaneDims];
};

// What is read along the folded dimension.
struct fold_source {
  u64 input;
  u64 mask;  // one byte per element, or 0: all are there
  i64 step, mask_step;
  u32 form;  // of device_form.hpp, and fold_form
  u32 reserved;
};
enum fold_form : u32 {
  kFormOwn = 1u << 16,     // the loop's own type, aligned and in order
  kFormPartial = 1u << 17  // of type A
};

// Where results go: as partial results, or as last ones, of X.
struct fold_sink {
  u64 output;
  u64 present;    // bytes beside partial results, or 0
  i64 slot_step;  // of `output` from slot to slot, of last results
  u32 flags;      // fold_flag
  u32 reserved;
  u64 initial[2];  // an X
};
enum fold_flag : u32 {
  kFoldLast = 1u << 0,     // last results; else partial ones
  kFoldInitial = 1u << 1,  // of last ones: `initial` is the left operand
  kFoldFast = 1u << 2      // leaves: elements are the loop's own or partial, all are there, none is
                           // looked at
};

// Some elements of the dimension, and the slot of what they make.
struct fold_piece {
  u64 first, count, slot;
};

struct tree_block {
  u64 status;
  u64 table;       // of fold_piece, one per piece; 0: pieces of `span` follow each other
  u64 extent;      // elements of the dimension
  u64 span;        // elements of a piece
  u64 first_slot;  // of a launch that is not the first of its pass
  u32 watch;
  u32 log_lanes, log_parts, log_units;  // threads: lanes, accumulators (0 or 3), leaves or runs
  divisor pieces;                       // of this launch
  fold_source from;
  fold_sink to;
  lane_dims lanes;
};

// One thread folds a piece of one lane.
struct chain_block {
  u64 status;
  u64 table;
  u64 extent;
  u64 span;
  u64 first_slot;
  u64 start;  // of X per lane, or 0: what the fold begins with; the first element is left out
  u32 watch;
  u32 ndim;          // dimensions above 0, of a loop X, Y -> X: folded as one in C order
  u32 items;         // pieces times lanes, of this launch
  divisor by_lanes;  // lanes of this launch
  fold_source from;
  fold_sink to;
  u64 size[7];
  i64 step[7], mask_step[7];
  lane_dims lanes;
};

// Tiles of `tile` elements are folded from the left, each result kept, or the last alone.
struct scan_block {
  u64 status;
  u64 extent, tile;
  u64 offsets;     // of X, [tile - 1][lane]: the left operand of all results of a tile; or 0
  u64 first_tile;  // of this launch
  u32 watch;
  u32 flags;  // scan_flag
  u32 items;  // tiles times lanes, of this launch
  divisor by_lanes;
  fold_source from;
  u64 output;  // of X
  i64 output_step;
  lane_dims lanes;
};
enum scan_flag : u32 {
  kScanTotals = 1u << 0,  // only the last result of each tile, as X at [tile][lane]
  kScanStaged = 1u << 1   // elements pass through shared memory, tile by tile
};

// Operations on one element, in their order: `operand[first .. first + count)`.
struct at_target {
  i64 output;  // byte offset
  u64 first, count;
};

// How an element becomes one of a loop over times, or back: convert_way, and what that reads.
struct time_way {
  u32 way, reserved;
  time::conversion units;
};

struct at_block {
  u64 status;
  u64 targets;   // of at_target
  u64 operands;  // of i64: byte offsets from `input`; 0: the loop is unary
  u64 input, output;
  u32 input_form, output_form;
  u32 watch;
  u32 items;  // targets times lanes, of this launch
  divisor by_lanes;
  lane_dims lanes;
  time_way load, store, operand;  // read by loops over times alone, where a form is not own
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_BLOCK_HPP
