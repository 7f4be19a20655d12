// SPDX-License-Identifier: Apache-2.0
// C API layer of chunked calls: guf_call_chunked.
#include <gufunc/chunks.h>

#include "abi/src/capi.h"
#include "abi/src/unpack_call.h"
#include "core/base/struct_size.h"
#include "core/chunked/chunked_call.h"

using namespace gufunc;

guf_status guf_call_chunked(guf_ufunc ufunc, guf_call_args *args, const guf_chunk_options *options,
                            int64_t *out_items, guf_error *error) {
  if (out_items != nullptr) *out_items = 0;
  return capi::guard(error, [&]() -> guf_status {
    guf_chunk_options given = {};
    given.struct_size = sizeof given;
    const guf_chunk_options *chosen = &given;
    if (options != nullptr) {
      GUF_TRY(base::read_struct(options, "options", &given, &chosen, error));
    }
    guf_call_args buffer;
    op::CallView call;
    GUF_TRY(capi::unpack_call(ufunc, args, &buffer, &call, error));
    if (call.ufunc->nout() > 0) GUF_TRY(capi::need(call.args->outputs, "args->outputs", error));
    int64_t done = 0;
    const guf_status status =
        capi::trace_choice(call, chunked::call_chunked(call, *chosen, &done, error));
    if (out_items != nullptr) *out_items = done;
    return status;
  });
}
