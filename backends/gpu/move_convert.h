// SPDX-License-Identifier: Apache-2.0
// Copies and conversions of elements as launches (guf_backend_api.convert).
#ifndef GUFUNC_BACKENDS_GPU_MOVE_CONVERT_H
#define GUFUNC_BACKENDS_GPU_MOVE_CONVERT_H

#include "backends/gpu/command_sink.h"
#include "backends/gpu/element_cast.h"
#include "backends/gpu/launch_shape.h"

namespace gufunc::gpu {

// Operand 0 of the block is read, operand 1 written.
// Errors  GUF_E_DTYPE <= no such cast; those of CommandSink
guf_status queue_convert(const guf_launch_block &block, CommandSink &commands, guf_error *error);

// One side of a move.
struct MoveSide {
  guf_dtype dtype;
  uint32_t flags;  // SWAPPED and UNALIGNED of guf_launch_operand_flag
};

// The same for a shape of two operands of up to kShapeDims dimensions, with a mask maybe. Sorts the
// shape.
guf_status queue_move(LaunchShape *shape, const MoveSide &from, const MoveSide &to,
                      CommandSink &commands, guf_error *error);

// Elements of `bytes` bytes as they are, of any alignment. No mask.
guf_status queue_copy(LaunchShape *shape, uint32_t bytes, CommandSink &commands, guf_error *error);

// How many items a part may have of whose dimensions an entry takes `dims`: at most `limit`.
uint64_t items_within(const LaunchShape &shape, int dims, uint64_t limit);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_MOVE_CONVERT_H
