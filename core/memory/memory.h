// SPDX-License-Identifier: Apache-2.0
// Arrays that own or borrow memory, and copies of elements between arrays.
#ifndef GUFUNC_CORE_MEMORY_MEMORY_H
#define GUFUNC_CORE_MEMORY_MEMORY_H

#include "core/array/array.h"
#include "core/backend/backend.h"

namespace gufunc::memory {

// Allocates a new array with unspecified values. If `strides` is nullptr, the layout follows
// `order` (C or F). Also frees memory whose release was deferred.
guf_status allocate(backend::Device &device, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                    const int64_t *strides, int32_t order, base::Ref<array::Array> *out,
                    guf_error *error);

// Allocates an array in host memory for use with `device`. `kind` is a guf_memory_kind other than
// DEVICE. The array belongs to the cpu device.
guf_status allocate_host(backend::Device &device, int32_t kind, guf_dtype dtype, int32_t ndim,
                         const int64_t *shape, const int64_t *strides, int32_t order,
                         base::Ref<array::Array> *out, guf_error *error);

// Wraps memory of the caller. The release callback runs only if `arm_release` is called, which
// callers must do after the last step that can fail.
guf_status wrap(const guf_tensor &tensor, backend::Device *device, guf_release_fn release,
                void *user, uint32_t flags, base::Ref<array::Array> *out, guf_error *error);
void arm_release(const array::Array &wrapped);
// Like `wrap`, for memory that `storage` releases.
guf_status wrap_in(const guf_tensor &tensor, backend::Device *device,
                   const base::Ref<array::Storage> &storage, base::Ref<array::Array> *out,
                   guf_error *error);

// Frees memory whose release was deferred, then runs at most `max` queued release callbacks (all of
// them if `max` is 0). Returns the number of callbacks that ran.
uint32_t run_callbacks(uint32_t max);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_MEMORY_H
