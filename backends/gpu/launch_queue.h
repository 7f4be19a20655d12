// SPDX-License-Identifier: Apache-2.0
// Launches of loops as commands (guf_backend_api.launch).
#ifndef GUFUNC_BACKENDS_GPU_LAUNCH_QUEUE_H
#define GUFUNC_BACKENDS_GPU_LAUNCH_QUEUE_H

#include <cstddef>

#include "backends/gpu/command_sink.h"

namespace gufunc::gpu {

// `launch.kernel` stands for what CommandSink::has tells of.
// Errors  GUF_E_UNSUPPORTED <= more operands or core dimensions than devices take; an unknown flag
//         GUF_E_DTYPE       <= an operand has no cast to the loop's type
//         GUF_E_NO_IMAGE    <= the kernel lacks the entry that this needs
//         those of CommandSink
guf_status queue_launch(const guf_backend_launch &launch, CommandSink &commands, guf_error *error);

// How queue_launch would run it: lines "word: text", NUL-terminated, cut off at `text_size`. Of
// `device` traits() and has() are asked, nothing is queued; operands are not read.
guf_status describe_launch_commands(const guf_backend_launch &launch, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_LAUNCH_QUEUE_H
