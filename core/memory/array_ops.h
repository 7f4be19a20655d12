// SPDX-License-Identifier: Apache-2.0
// Operations on whole arrays for the C API layer: fill, copy, assign, astype, to_device,
// copy_to_host, synchronize and print.
#ifndef GUFUNC_CORE_MEMORY_ARRAY_OPS_H
#define GUFUNC_CORE_MEMORY_ARRAY_OPS_H

#include "core/memory/memory.h"

namespace gufunc::memory {

// These functions implement guf_array_fill, guf_array_copy and so on, with the same parameters and
// errors. The caller has resolved the handles and checked the pointers; `casting` and `order` may
// be any int32_t.
guf_status fill(array::Array &array, const guf_operand &value, backend::Stream *stream,
                guf_error *error);
guf_status copy(array::Array &array, int32_t order, backend::Stream *stream,
                base::Ref<array::Array> *out, guf_error *error);
guf_status assign(array::Array &destination, array::Array &source, int32_t casting,
                  backend::Stream *stream, guf_error *error);
guf_status astype(array::Array &array, guf_dtype dtype, int32_t casting, int32_t order,
                  backend::Stream *stream, base::Ref<array::Array> *out, guf_error *error);
// If `*inout` is empty, copies to a new array. Otherwise copies to `*inout`.
guf_status to_device(array::Array &array, backend::Device &device, backend::Stream *stream,
                     base::Ref<array::Array> *inout, guf_error *error);
guf_status copy_to_host(array::Array &array, void *destination, uint64_t nbytes, int32_t order,
                        backend::Stream *stream, guf_error *error);

guf_status synchronize(array::Array &array, uint64_t timeout_ns, guf_error *error);

// Writes the array as text, like guf_array_print.
// Errors  GUF_E_BUFFER_TOO_SMALL, GUF_E_NO_MEMORY
guf_status print(array::Array &array, char *text, uint64_t *inout_length, guf_error *error);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_ARRAY_OPS_H
