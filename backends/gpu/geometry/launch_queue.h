// SPDX-License-Identifier: Apache-2.0
// Translates launches of loops to commands (guf_backend_api.launch).
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_QUEUE_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_QUEUE_H

#include <cstddef>

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// Queues a launch. `launch.kernel` is not used; CommandSink::has reports the kernel's entries.
// Errors  GUF_E_UNSUPPORTED <= too many operands or core dimensions; an unknown flag
//         GUF_E_DTYPE       <= an operand has no cast to the loop's dtype
//         GUF_E_NO_IMAGE    <= the kernel lacks the required entry
//         the errors of CommandSink
guf_status queue_launch(const guf_backend_launch &launch, CommandSink &commands, guf_error *error);

// Describes how queue_launch would run the launch, in lines of the form "word: text".
// The text is NUL-terminated and truncated to `text_size`.
// Uses only traits(), has() and local_bytes() of `device`, queues nothing and reads no operand.
guf_status describe_launch_commands(const guf_backend_launch &launch, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_QUEUE_H
