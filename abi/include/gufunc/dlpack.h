/* SPDX-License-Identifier: Apache-2.0
 * DLPack: arrays from and for other libraries of the process, without a copy. */
#ifndef GUFUNC_DLPACK_H
#define GUFUNC_DLPACK_H

#include "array.h"

GUF_BEGIN_DECLS

/* The structures lie in memory as those of DLPack 1.x and, the unversioned one, of 0.x: a program
 * that has <dlpack/dlpack.h> casts pointers between the two. */

/** Where a tensor lies: DLDeviceType. Others are refused. */
enum guf_dlpack_device {
  GUF_DLPACK_CPU = 1,
  GUF_DLPACK_CUDA = 2,
  GUF_DLPACK_CUDA_HOST = 3, /* page-locked or mapped host memory */
  GUF_DLPACK_ROC = 10,
  GUF_DLPACK_ROC_HOST = 11,
  GUF_DLPACK_CUDA_MANAGED = 13
};

/** DLTensor. */
typedef struct guf_dlpack_tensor {
  void *data;
  int32_t device_type; /* guf_dlpack_device */
  int32_t device_id;
  int32_t ndim;
  guf_dtype dtype;  /* DLDataType, byte for byte; codes from 0x80 on never occur */
  int64_t *shape;   /* ndim extents */
  int64_t *strides; /* counted in elements; NULL: C-contiguous */
  uint64_t byte_offset;
} guf_dlpack_tensor;

enum guf_dlpack_tensor_flag {
  GUF_DLPACK_READ_ONLY = 1u << 0,
  GUF_DLPACK_IS_COPIED = 1u << 1 /* made for the consumer: nobody else sees it */
};

struct guf_dlpack;
typedef void (*guf_dlpack_delete_fn)(struct guf_dlpack *managed);

/** DLManagedTensorVersioned. Where `major` is not 1 only `deleter` may be used. */
typedef struct guf_dlpack {
  uint32_t major;
  uint32_t minor;
  void *manager_context;
  guf_dlpack_delete_fn deleter; /* NULL: nothing to delete */
  uint64_t flags;               /* guf_dlpack_tensor_flag, and others that are not looked at */
  guf_dlpack_tensor tensor;
} guf_dlpack;

struct guf_dlpack_unversioned;
typedef void (*guf_dlpack_unversioned_delete_fn)(struct guf_dlpack_unversioned *managed);

/** DLManagedTensor: what libraries exchange that know DLPack 0.x. It has no flags. */
typedef struct guf_dlpack_unversioned {
  guf_dlpack_tensor tensor;
  void *manager_context;
  guf_dlpack_unversioned_delete_fn deleter;
} guf_dlpack_unversioned;

/** The streams without a handle that other libraries work on; with one of these the stream
 * parameter is NULL. */
enum guf_dlpack_flag {
  GUF_DLPACK_LEGACY_STREAM = 1u << 0,     /* the vendor's default stream */
  GUF_DLPACK_PER_THREAD_STREAM = 1u << 1, /* that of the calling thread */
  GUF_DLPACK_COPIED = 1u << 2             /* export: sets GUF_DLPACK_IS_COPIED */
};

/** Makes an array of a tensor. Host memory of all kinds becomes an array of the cpu; managed memory
 * is also read in place by its device.
 * `ready_on`: the tensor's values are there once what is queued on it so far is done: work that the
 * device is given without a stream later comes behind that, without waiting here. NULL: they are
 * there already, or in the order of work without a stream. Other streams are the caller's to order
 * (gufunc/stream.h).
 * Ownership  the tensor is taken in every case but NULL: its deleter runs once, when the last array
 *            or view is gone and what the device was given without a stream is done; on failure
 *            before this returns. It may run on any thread that calls this library, outside all
 *            locks; in a forked child that of the parent's device memory does not run.
 * Errors  GUF_E_ARG <= managed or out_array is NULL; unknown flags, or two streams; a stream with
 *                      host memory; shape NULL with ndim > 0; data NULL with elements
 *         GUF_E_HANDLE, GUF_E_CAPTURE, GUF_E_FORKED <= ready_on
 *         GUF_E_ABI <= major is not 1
 *         GUF_E_DTYPE <= no guf_dtype of DLPack's codes; lanes is not 1
 *         GUF_E_SHAPE <= as guf_array_wrap; byte_offset or strides reach beyond the address space
 *         GUF_E_UNSUPPORTED <= device_type;  GUF_E_NO_DEVICE, any 9xx <= the device
 *         GUF_E_DEVICE_MISMATCH <= ready_on is of another device; or the driver says that the
 *                                  memory is not the device's
 *         GUF_E_NO_MEMORY;  GUF_E_SHUTDOWN
 * [mt] [no-block] */
GUF_API guf_status guf_array_from_dlpack(guf_dlpack *managed, guf_stream ready_on, uint32_t flags,
                                         guf_array *out_array, guf_error *error);
GUF_API guf_status guf_array_from_dlpack_unversioned(guf_dlpack_unversioned *managed,
                                                     guf_stream ready_on, uint32_t flags,
                                                     guf_array *out_array, guf_error *error);

/** Makes a tensor of an array, of version 1.0, with strides.
 * `consumer`: the stream that will read it; it waits for what the device was given without a stream
 * so far. NULL: nobody waits. Work on other streams is the caller's to order.
 * Ownership  the caller's, until its `deleter` was called, once, by any thread: that calls no
 *            driver and waits for nothing. The array lives until then, and its memory until what
 *            the consumer stream has queued by then is done; the stream has to live as long, too.
 * Errors  GUF_E_ARG <= out_managed is NULL; unknown flags, or two streams; a stream with an array
 *                      in host memory
 *         GUF_E_HANDLE, GUF_E_CAPTURE, GUF_E_FORKED
 *         GUF_E_DTYPE <= a time, a record, or elements in the other byte order
 *         GUF_E_UNSUPPORTED <= a stride is no multiple of the item size; the array's backend has no
 *                              place in DLPack
 *         GUF_E_READ_ONLY <= a read-only array, unversioned: it could not tell
 *         GUF_E_DEVICE_MISMATCH <= consumer is of another device
 *         GUF_E_NO_MEMORY;  GUF_E_SHUTDOWN
 * [mt] [no-block] */
GUF_API guf_status guf_array_to_dlpack(guf_array array, guf_stream consumer, uint32_t flags,
                                       guf_dlpack **out_managed, guf_error *error);
GUF_API guf_status guf_array_to_dlpack_unversioned(guf_array array, guf_stream consumer,
                                                   uint32_t flags,
                                                   guf_dlpack_unversioned **out_managed,
                                                   guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DLPACK_H */
