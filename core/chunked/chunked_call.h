// SPDX-License-Identifier: Apache-2.0
// Runs a call in chunks of its loop dimensions.
#ifndef GUFUNC_CORE_CHUNKED_CHUNKED_CALL_H
#define GUFUNC_CORE_CHUNKED_CHUNKED_CALL_H

#include <gufunc/chunks.h>

#include "core/op/call_view.h"

namespace gufunc::chunked {

// Runs the call. Sets `*done` to the number of outer items that have been written
// to the outputs, on success and on failure.
// Errors  as guf_call_chunked
guf_status call_chunked(op::CallView &call, const guf_chunk_options &options, int64_t *done,
                        guf_error *error);

}  // namespace gufunc::chunked

#endif  // GUFUNC_CORE_CHUNKED_CHUNKED_CALL_H
