// SPDX-License-Identifier: Apache-2.0
// Translates methods of ufuncs to commands: the slots `method` and `describe_method`.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_QUEUE_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_QUEUE_H

#include <gufunc/backend.h>

#include <cstddef>

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// Reads the block and its indices only during the call. The order of the reduction is defined in
// docs/reductions.md, and the result has the same bits as on the cpu. At the end the status word
// contains the status bits of the method.
// Errors  GUF_E_UNSUPPORTED <= a structured dtype, a loop without the required entries,
//                              `at` of numbers on datetime types, unknown flags
//         GUF_E_DTYPE <= `at` with operands that have no cast to the loop's dtype
//         GUF_E_NO_MEMORY <= host memory for the tables of reduceat and at
//         GUF_E_DEVICE_MEMORY, and the errors of CommandSink::run
guf_status queue_method(const guf_backend_method &method, CommandSink &commands, guf_error *error);

// Describes how queue_method would run the method: lines "word: text", NUL-terminated and truncated
// to `text_size`. Uses only traits() and has() of `device` and queues nothing. Unknown indices are
// NULL.
guf_status describe_method_commands(const guf_backend_method &method, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_METHOD_QUEUE_H
