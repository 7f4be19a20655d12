// SPDX-License-Identifier: Apache-2.0
// run --chunk: splits a call into chunks, for files larger than memory.
#ifndef GUFUNC_TOOLS_GUFUNC_CHUNKED_RUN_H
#define GUFUNC_TOOLS_GUFUNC_CHUNKED_RUN_H

#include <gufunc/gufunc.h>

#include <string>

#include "progress.h"

namespace gufunc::cli {

// Parses a size in bytes: "65536", "64K", "8M", "1G". Throws Failure(kUsage).
uint64_t chunk_bytes_of(const std::string &text);

// Runs a call in chunks. `args` must contain every output. The progress line shows the number of
// finished items.
void call_in_chunks(guf_ufunc ufunc, guf_call_args *args, uint64_t chunk_bytes,
                    ProgressLine *progress);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_CHUNKED_RUN_H
