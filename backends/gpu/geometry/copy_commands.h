// SPDX-License-Identifier: Apache-2.0
// Translates copies and conversions of elements (guf_backend_api.convert) and fills of memory
// (guf_backend_api.fill) to commands.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_COPY_COMMANDS_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_COPY_COMMANDS_H

#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {

// Queues the conversion of operand 0 of the block to operand 1.
// Errors  GUF_E_DTYPE <= the dtypes have no cast; the errors of CommandSink
guf_status queue_convert(const guf_launch_block &block, CommandSink &commands, guf_error *error);

// The source or destination of a copy or conversion.
struct CopySide {
  guf_dtype dtype;
  uint32_t flags;  // GUF_LAUNCH_OPERAND_SWAPPED and _UNALIGNED
};

// Queues the conversion for a shape of two operands with up to kShapeDims dimensions
// and an optional mask. Sorts the dimensions of the shape.
guf_status queue_copy(LaunchShape *shape, const CopySide &from, const CopySide &to,
                      CommandSink &commands, guf_error *error);

// Copies elements of `bytes` bytes and any alignment without a conversion. Does not support masks.
guf_status queue_copy(LaunchShape *shape, uint32_t bytes, CommandSink &commands, guf_error *error);

// Returns the largest number of items, up to `limit`, for which a part of the shape has at most
// `dims` dimensions.
uint64_t items_within(const LaunchShape &shape, int dims, uint64_t limit);

// Writes the pattern `count` times. The pattern is in host memory
// and may change after the call returns.
// Errors  the errors of CommandSink
guf_status queue_fill(uint64_t dst, const void *pattern, uint32_t pattern_bytes, uint64_t count,
                      CommandSink &commands, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_COPY_COMMANDS_H
