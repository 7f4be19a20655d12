// SPDX-License-Identifier: Apache-2.0
// Methods of ufuncs as commands: the slots `method` and `describe_method`.
#ifndef GUFUNC_BACKENDS_GPU_METHOD_QUEUE_H
#define GUFUNC_BACKENDS_GPU_METHOD_QUEUE_H

#include <gufunc/backend.h>

#include <cstddef>

#include "backends/gpu/command_sink.h"

namespace gufunc::gpu {

// Reads the block and its indices during the call only. The order of folding is that of
// docs/reductions.md, the same bits as the cpu's; at the end the status word has what happened.
// Errors  GUF_E_UNSUPPORTED <= a record, a loop without the entries that the method is made of,
//                              `at` of numbers on times, flags that are not known
//         GUF_E_DTYPE <= `at` with operands that have no cast to the loop's type
//         GUF_E_NO_MEMORY <= host memory for the tables of reduceat and at
//         GUF_E_DEVICE_MEMORY, and what run() of the command sink fails with
guf_status queue_method(const guf_backend_method &method, CommandSink &commands, guf_error *error);

// How queue_method would run it: lines "word: text", NUL-terminated, cut off at `text_size`. Of
// `device` traits() and has() are asked, nothing is queued. Indices that are not known are NULL.
guf_status describe_method_commands(const guf_backend_method &method, const CommandSink &device,
                                    char *out_text, size_t text_size, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_METHOD_QUEUE_H
