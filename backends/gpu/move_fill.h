// SPDX-License-Identifier: Apache-2.0
// Memory filled with a pattern (guf_backend_api.fill).
#ifndef GUFUNC_BACKENDS_GPU_MOVE_FILL_H
#define GUFUNC_BACKENDS_GPU_MOVE_FILL_H

#include "backends/gpu/command_sink.h"

namespace gufunc::gpu {

// `count` times the pattern, which is host memory and may change once this returned.
// Errors  those of CommandSink
guf_status queue_fill(uint64_t dst, const void *pattern, uint32_t pattern_bytes, uint64_t count,
                      CommandSink &commands, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_MOVE_FILL_H
