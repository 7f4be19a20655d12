// SPDX-License-Identifier: Apache-2.0
// Argument blocks of the device entries for methods: `leaves` and `join` (tree reduction), `fold`
// (reduction from the left), `scan` and `at`. A pass reduces one dimension. Each index of the
// remaining dimensions is a lane; the lanes are numbered with dimension 0 fastest. Partial results
// are stored as [slot][lane]; if some may be absent, one byte per partial result marks whether it
// is present.
//
// X is the loop's type. The accumulator type A of a tree reduction is X, or f32 if X is f16 or
// bf16. Steps are in bytes. A launch has fewer than 2^31 lanes, blocks and work-items.
#ifndef GUFUNC_KERNEL_DEVICE_FOLD_BLOCK_HPP
#define GUFUNC_KERNEL_DEVICE_FOLD_BLOCK_HPP

#include "device_block.hpp"
#include "device_form.hpp"

namespace guf {
namespace device {

enum {
  kLaneDims = 15,      // 8 dimensions of the result, and 7 that later passes reduce
  kFoldThreads = 256,  // threads per block of leaves, join, fold and at
  kJoinRun = 4,        // partial results per thread of join
  kScanThreads = 128,  // threads per block of scan; each thread computes a tile
  kScanRun = 16,       // elements of each tile that are staged together in shared memory
  kFoldInitialBytes = 16
};

struct lane_dims {
  u64 pitch;  // number of lanes of the whole pass, which is the distance between two slots
  u32 lanes;  // number of lanes of this launch
  u32 ndim;
  divisor size[kLaneDims];
  i64 input[kLaneDims], mask[kLaneDims], output[kLaneDims];
};

// The input and the mask along the reduced dimension.
struct fold_source {
  u64 input;
  u64 mask;  // address of one byte per element; 0: all elements are reduced
  i64 step, mask_step;
  u32 form;  // see device_form.hpp, and fold_form
  u32 reserved;
};
enum fold_form : u32 {
  kFormLoopType = 1u << 16,  // the loop's own type, aligned and in native byte order
  kFormPartial = 1u << 17    // partial results of type A
};

// The output: partial results, or final results of type X.
struct fold_sink {
  u64 output;
  u64 present;    // address of the bytes that mark partial results as present, or 0
  i64 slot_step;  // bytes of `output` from one slot to the next, for final results
  u32 flags;      // fold_flag
  u32 reserved;
  u64 initial[2];  // a value of type X
};
enum fold_flag : u32 {
  kFoldLast = 1u << 0,     // the results are final; otherwise they are partial
  kFoldInitial = 1u << 1,  // `initial` is the left operand of the first step; for final results
  kFoldFast = 1u << 2  // entries `leaves` and `fold`: the elements are stored in the loop's type or
                       // as partial results, without a mask and without flags to compute
};

// A piece: a range of elements along the reduced dimension, and the slot of its result.
struct fold_piece {
  u64 first, count, slot;
};

struct tree_block {
  u64 status;
  u64 table;       // address of a fold_piece per piece; 0: consecutive pieces of `span` elements
  u64 extent;      // elements of the reduced dimension
  u64 span;        // elements of a piece
  u64 first_slot;  // slot of the first piece of this launch, if there is no table
  u32 fp_flags;
  // The log2 of three numbers: lanes per thread block, accumulators per base block (1 or 8), and
  // base blocks (`leaves`) or runs (`join`) per piece. Each accumulator has one thread.
  u32 log2_lanes, log2_parts, log2_units;
  divisor pieces;  // number of pieces of this launch
  fold_source from;
  fold_sink to;
  lane_dims lanes;
};

// One thread reduces a piece of one lane.
struct chain_block {
  u64 status;
  u64 table;
  u64 extent;
  u64 span;
  u64 first_slot;
  u64 start;  // address of a start value (X) per lane; 0: the first element is the start value
  u32 fp_flags;
  u32 ndim;          // for a loop (X, Y) -> X: further reduced dimensions, of lengths `size`
  u32 items;         // number of pieces times number of lanes of this launch
  divisor by_lanes;  // number of lanes of this launch
  fold_source from;
  fold_sink to;
  u64 size[7];
  i64 step[7], mask_step[7];
  lane_dims lanes;
};

// Each thread reduces a tile of `tile` elements from the left. The entry stores all results of a
// tile, or only the last one (kScanTotals).
struct scan_block {
  u64 status;
  u64 extent, tile;
  // Address of an array of X, or 0. Its element [tile - 1][lane] is combined, as the left operand,
  // with each result of a tile. Tile 0 has no such operand.
  u64 offsets;
  u64 first_tile;  // first tile of this launch
  u32 fp_flags;
  u32 flags;  // scan_flag
  u32 items;  // number of tiles times number of lanes of this launch
  divisor by_lanes;
  fold_source from;
  u64 output;  // results of type X
  i64 output_step;
  lane_dims lanes;
};
enum scan_flag : u32 {
  kScanTotals = 1u << 0,  // only the last result of each tile, as X at [tile][lane]
  kScanStaged = 1u << 1   // elements are staged in shared memory, kScanRun of each tile at a time
};

// The operations on one element of the output. Operation i, for i < count, has its second operand
// at the byte offset `operands[first + i]`.
struct at_target {
  i64 output;  // byte offset
  u64 first, count;
};

// How an element of an operand is converted to the datetime type of the loop, or back. `kind` is a
// conversion_kind, and `units` contains the parameters of the conversion.
struct time_conversion {
  u32 kind, reserved;
  time::conversion units;
};

struct at_block {
  u64 status;
  u64 targets;   // array of at_target
  u64 operands;  // array of i64: byte offsets from `input`; 0: the loop is unary
  u64 input, output;
  u32 input_form, output_form;
  u32 fp_flags;
  u32 items;  // number of targets times number of lanes of this launch
  divisor by_lanes;
  lane_dims lanes;
  // Only loops of datetime types use these conversions, for forms without kFormLoopType.
  time_conversion load, store, operand;
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FOLD_BLOCK_HPP
