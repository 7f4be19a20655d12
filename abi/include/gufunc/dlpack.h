/* SPDX-License-Identifier: Apache-2.0
 * DLPack: exchanges arrays with other libraries in the process, without a copy. */
#ifndef GUFUNC_DLPACK_H
#define GUFUNC_DLPACK_H

#include "array.h"

GUF_BEGIN_DECLS

/* The structures have the memory layout of DLPack 1.x and, for the unversioned one, of 0.x. A
 * program that includes <dlpack/dlpack.h> can cast pointers between the two. */

/** Location of a tensor: DLDeviceType. A backend can add types: its GUF_BACKEND_NOTE
 * (gufunc/backend.h) contains the device types of its memory. */
enum guf_dlpack_device {
  GUF_DLPACK_CPU = 1,
  GUF_DLPACK_CUDA = 2,
  GUF_DLPACK_CUDA_HOST = 3, /* page-locked or mapped host memory */
  GUF_DLPACK_ROC = 10,
  GUF_DLPACK_ROC_HOST = 11,
  GUF_DLPACK_CUDA_MANAGED = 13
};

/** Tests whether a device type denotes host memory, which the cpu backend uses in place. */
#define GUF_DLPACK_IS_HOST(type) \
  ((type) == GUF_DLPACK_CPU || (type) == GUF_DLPACK_CUDA_HOST || (type) == GUF_DLPACK_ROC_HOST)

/** DLTensor. */
typedef struct guf_dlpack_tensor {
  void *data;
  int32_t device_type; /* guf_dlpack_device */
  int32_t device_id;
  int32_t ndim;
  guf_dtype dtype;  /* has the layout of DLDataType; codes from 0x80 on never occur */
  int64_t *shape;   /* ndim extents */
  int64_t *strides; /* in elements, not bytes; NULL: C-contiguous */
  uint64_t byte_offset;
} guf_dlpack_tensor;

enum guf_dlpack_tensor_flag {
  GUF_DLPACK_READ_ONLY = 1u << 0,
  GUF_DLPACK_IS_COPIED = 1u << 1 /* a copy for the exclusive use of the consumer */
};

struct guf_dlpack;
typedef void (*guf_dlpack_delete_fn)(struct guf_dlpack *managed);

/** DLManagedTensorVersioned. If `major` is not 1, only `deleter` may be used. */
typedef struct guf_dlpack {
  uint32_t major;
  uint32_t minor;
  void *manager_context;
  guf_dlpack_delete_fn deleter; /* NULL: nothing to delete */
  uint64_t flags;               /* guf_dlpack_tensor_flag; other flags are ignored */
  guf_dlpack_tensor tensor;
} guf_dlpack;

struct guf_dlpack_unversioned;
typedef void (*guf_dlpack_unversioned_delete_fn)(struct guf_dlpack_unversioned *managed);

/** DLManagedTensor: the structure of DLPack 0.x, which has no flags. */
typedef struct guf_dlpack_unversioned {
  guf_dlpack_tensor tensor;
  void *manager_context;
  guf_dlpack_unversioned_delete_fn deleter;
} guf_dlpack_unversioned;

/** Flags of the functions below. The first two select default streams, which have no handle; with
 * either of them the stream parameter must be NULL. */
enum guf_dlpack_flag {
  GUF_DLPACK_LEGACY_STREAM = 1u << 0,     /* the vendor's default stream */
  GUF_DLPACK_PER_THREAD_STREAM = 1u << 1, /* the calling thread's default stream */
  GUF_DLPACK_COPIED = 1u << 2             /* export only: sets GUF_DLPACK_IS_COPIED */
};

/** Makes an array from a tensor, without a copy. A tensor in host memory of any kind, managed
 * memory included, becomes an array of the cpu. The device of a tensor in managed memory can also
 * use the array in place.
 * `ready_on` is the stream whose work produces the tensor's values. Work that is queued later on
 * the device's default stream (with a NULL stream) runs after the work that is on `ready_on` at the
 * time of this call; this call does not wait. NULL means that the values are complete, or are
 * produced by work on the default stream. The caller orders work on all other streams
 * (gufunc/stream.h).
 * Ownership  the library takes ownership of the tensor, even if this function fails, unless
 *            `managed` is NULL. It calls the deleter exactly once: if this function fails, before
 *            it returns; else when the last array or view is released and the work on the device's
 *            default stream is complete. The deleter may run on any thread that calls this library,
 *            without a lock held. In a forked child the deleter does not run for device memory of
 *            the parent process.
 * [mt] [no-block]
 * Errors     GUF_E_ARG             <= managed or out_array is NULL; flags has unknown bits or
 *                                     selects two streams; a stream is given for host memory; shape
 *                                     is NULL and ndim > 0; data is NULL and there are elements
 *            GUF_E_HANDLE          <= ready_on is not a live stream
 *            GUF_E_CAPTURE         <= ready_on is being captured
 *            GUF_E_FORKED          <= ready_on was created before a fork
 *            GUF_E_ABI             <= major is not 1
 *            GUF_E_DTYPE           <= the DLDataType is not a guf_dtype, or lanes is not 1
 *            GUF_E_SHAPE           <= as guf_array_wrap, or byte_offset or strides exceed the
 *                                     address space
 *            GUF_E_NO_BACKEND      <= device_type is not host memory, and no backend has it
 *            GUF_E_NO_DEVICE, any 9xx <= the tensor's device is not usable
 *            GUF_E_DEVICE_MISMATCH <= ready_on belongs to another device; or the driver reports
 *                                     that the memory does not belong to the device
 *            GUF_E_NO_MEMORY       <= a host allocation failed
 *            GUF_E_SHUTDOWN        <= after guf_shutdown */
GUF_API guf_status guf_array_from_dlpack(guf_dlpack *managed, guf_stream ready_on, uint32_t flags,
                                         guf_array *out_array, guf_error *error);
GUF_API guf_status guf_array_from_dlpack_unversioned(guf_dlpack_unversioned *managed,
                                                     guf_stream ready_on, uint32_t flags,
                                                     guf_array *out_array, guf_error *error);

/** Makes a tensor from an array, of DLPack version 1.0, with strides.
 * `consumer` is the stream that will read the tensor. This stream waits for the work that was
 * queued on the device's default stream before this call. NULL means that no stream waits. The
 * caller orders work on other streams.
 * Ownership  the caller owns the tensor until it calls `deleter`, once, on any thread. The deleter
 *            calls no driver and does not wait. The array lives until the deleter is called. The
 *            memory of the array lives until the work that was queued on the consumer stream before
 *            the deleter was called is complete; the consumer stream must live as long.
 * [mt] [no-block]
 * Errors     GUF_E_ARG             <= out_managed is NULL; flags has unknown bits or selects two
 *                                     streams; a stream is given for an array in host memory
 *            GUF_E_HANDLE          <= array or consumer is not a live handle of its kind
 *            GUF_E_CAPTURE         <= consumer is being captured
 *            GUF_E_FORKED          <= consumer was created before a fork
 *            GUF_E_DTYPE           <= a datetime type, a structured dtype, or elements in
 *                                     non-native byte order
 *            GUF_E_UNSUPPORTED     <= a stride is not a multiple of the item size; or DLPack has no
 *                                     device type for the array's backend
 *            GUF_E_READ_ONLY       <= the array is read-only and the structure is unversioned,
 *                                     which has no flag for it
 *            GUF_E_DEVICE_MISMATCH <= consumer belongs to another device
 *            GUF_E_NO_MEMORY       <= a host allocation failed
 *            GUF_E_SHUTDOWN        <= after guf_shutdown */
GUF_API guf_status guf_array_to_dlpack(guf_array array, guf_stream consumer, uint32_t flags,
                                       guf_dlpack **out_managed, guf_error *error);
GUF_API guf_status guf_array_to_dlpack_unversioned(guf_array array, guf_stream consumer,
                                                   uint32_t flags,
                                                   guf_dlpack_unversioned **out_managed,
                                                   guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DLPACK_H */
