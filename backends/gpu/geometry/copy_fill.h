// SPDX-License-Identifier: Apache-2.0
// Fills memory with a pattern (guf_backend_api.fill).
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_COPY_FILL_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_COPY_FILL_H

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// Writes the pattern `count` times. The pattern is in host memory
// and may change after the call returns.
// Errors  the errors of CommandSink
guf_status queue_fill(uint64_t dst, const void *pattern, uint32_t pattern_bytes, uint64_t count,
                      CommandSink &commands, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_COPY_FILL_H
