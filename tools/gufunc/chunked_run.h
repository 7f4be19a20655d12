// SPDX-License-Identifier: Apache-2.0
// run --chunk: a call cut into chunks, for files larger than memory.
#ifndef GUFUNC_TOOLS_GUFUNC_CHUNKED_RUN_H
#define GUFUNC_TOOLS_GUFUNC_CHUNKED_RUN_H

#include <gufunc/gufunc.h>

#include <string>

namespace gufunc::cli {

// Bytes: "65536", "64K", "8M", "1G". Throws Failure(kUsage).
uint64_t chunk_bytes_of(const std::string &text);

// Calls with all outputs given, with a progress line where stderr is a terminal.
void call_in_chunks(guf_ufunc ufunc, guf_call_args *args, uint64_t chunk_bytes,
                    const std::string &name);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_CHUNKED_RUN_H
