// SPDX-License-Identifier: Apache-2.0
// Arrays that own or borrow memory, and moving elements between them.
#ifndef GUFUNC_CORE_MEMORY_MEMORY_H
#define GUFUNC_CORE_MEMORY_MEMORY_H

#include "core/array/array.h"
#include "core/backend/backend.h"

namespace gufunc::memory {

// A new array. `strides` NULL: by `order` (C or F). Also buries and reaps. Values are unspecified.
guf_status allocate(backend::Device &device, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                    const int64_t *strides, int32_t order, base::Ref<array::Array> *out,
                    guf_error *error);

// The same in host memory for use with `device`: kind is a guf_memory_kind but DEVICE. The array is
// the cpu's.
guf_status allocate_host(backend::Device &device, int32_t kind, guf_dtype dtype, int32_t ndim,
                         const int64_t *shape, const int64_t *strides, int32_t order,
                         base::Ref<array::Array> *out, guf_error *error);

// Wraps memory of the caller. The release callback is owed from `owe_release` on: nothing may fail
// after it.
guf_status wrap(const guf_tensor &tensor, backend::Device *device, guf_release_fn release,
                void *user, uint32_t flags, base::Ref<array::Array> *out, guf_error *error);
void owe_release(const array::Array &wrapped);
// The same of memory that `storage` gives back.
guf_status wrap_in(const guf_tensor &tensor, backend::Device *device,
                   const base::Ref<array::Storage> &storage, base::Ref<array::Array> *out,
                   guf_error *error);

// One side of an elementwise copy.
struct Side {
  array::Layout layout;
  bool swapped;
  bool immediate = false;  // a scalar in host memory, wherever the copy is made
};

// Copies elements with casts (guf::cast); shapes are equal or `from` broadcasts to `to`. The memory
// of the two does not overlap, or is exactly the same view; `move` below stages. Complete on return
// when stream is nullptr.
guf_status convert(backend::Device &device, backend::Stream *stream, const Side &to,
                   const Side &from, guf_error *error);

// The same for sides that may overlap in any way.
guf_status move(backend::Device &device, backend::Stream *stream, const Side &to, const Side &from,
                guf_error *error);

// Frees what was dropped, then runs queued release callbacks: at most `max` (0: all); returns how
// many ran.
uint32_t run_callbacks(uint32_t max);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_MEMORY_H
