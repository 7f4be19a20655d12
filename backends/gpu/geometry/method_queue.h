// SPDX-License-Identifier: Apache-2.0
// Translates methods of ufuncs to commands, for the slots `method` and `describe_method`.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_QUEUE_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_QUEUE_H

#include <gufunc/backend.h>

#include <cstddef>

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// Queues a method. Reads the block and its indices only during the call.
// docs/reductions.md defines the order of reductions; the result has the same bits as on the cpu.
// When the method is complete, the status word contains its status bits.
// Errors  GUF_E_UNSUPPORTED <= a structured dtype, a loop without the required entries,
//                              `at` of numbers on datetime types, unknown flags
//         GUF_E_DTYPE <= `at` with operands that have no cast to the loop's dtype
//         GUF_E_NO_MEMORY <= host memory for the tables of reduceat and at
//         GUF_E_DEVICE_MEMORY, and the errors of CommandSink::run
guf_status queue_method(const guf_backend_method &method, CommandSink &commands, guf_error *error);

// Describes how queue_method would run the method, in lines of the form "word: text". The text
// is NUL-terminated and truncated to `text_size`. Uses only traits(), has() and local_bytes()
// of `device` and queues nothing. The indices in the block may be NULL if they are unknown.
guf_status describe_method_commands(const guf_backend_method &method, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_QUEUE_H
