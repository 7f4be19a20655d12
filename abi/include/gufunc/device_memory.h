/* SPDX-License-Identifier: Apache-2.0
 * Memory of devices beyond plain arrays: host memory that a device copies or reads directly, the
 * pools behind allocations, and the vendor's own handles. */
#ifndef GUFUNC_DEVICE_MEMORY_H
#define GUFUNC_DEVICE_MEMORY_H

#include "array.h"

GUF_BEGIN_DECLS

enum guf_host_memory {
  GUF_HOST_PINNED = 1, /* page-locked: copies to and from the device need no staging */
  GUF_HOST_MAPPED = 2, /* page-locked, and read and written by the device in place */
  GUF_HOST_MANAGED = 3 /* moves to whoever touches it */
};

/** Allocates an array in host memory for use with `device`; its values are unspecified. It is an
 * array of the host: the host may touch it whenever no queued work uses it. Calls on `device` use
 * mapped and managed arrays where they lie, and copy pinned ones. On the cpu it is ordinary memory.
 * Ownership, layout, errors  as guf_array_alloc;  GUF_E_ARG <= memory is no guf_host_memory
 *         GUF_E_UNSUPPORTED <= the device has no such memory
 * [mt] */
GUF_API guf_status guf_array_alloc_host(guf_device device, int32_t memory, guf_dtype dtype,
                                        int32_t ndim, const int64_t *shape, const int64_t *strides,
                                        int32_t order, guf_array *out_array, guf_error *error);

/** Page-locks `size` bytes of the caller's memory for `device`, until guf_host_unregister with the
 * same device and address; the memory must stay until then. On the cpu both do nothing.
 * Errors  GUF_E_ARG <= address or size is 0; it was not registered
 *         GUF_E_EXISTS <= a part of it is registered with a device of the same backend
 *         GUF_E_HANDLE;  GUF_E_UNSUPPORTED;  GUF_E_NO_MEMORY   [mt] */
GUF_API guf_status guf_host_register(guf_device device, uint64_t address, uint64_t size,
                                     guf_error *error);
GUF_API guf_status guf_host_unregister(guf_device device, uint64_t address, guf_error *error);

/** Memory of arrays on one device. */
typedef struct guf_device_memory {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;         /* in arrays and in use by queued work */
  uint64_t peak_bytes;         /* the most there ever were of these */
  uint64_t cached_bytes;       /* freed, and kept for the next allocation */
  uint64_t limit_bytes;        /* of both together; UINT64_MAX: none */
  uint64_t allocations;        /* so far */
  uint64_t driver_allocations; /* those of them that reached the driver */
  uint64_t free_bytes;         /* of the whole device, as its driver sees it */
  uint64_t total_bytes;
} guf_device_memory;

/** Errors  GUF_E_ARG <= out_memory is NULL;  GUF_E_HANDLE;  GUF_E_STRUCT
 *         GUF_E_UNSUPPORTED <= the device's backend keeps no pool (cpu)   [mt] */
GUF_API guf_status guf_device_get_memory(guf_device device, guf_device_memory *out_memory,
                                         guf_error *error);
/** Gives cached memory back to the driver until at most `keep_bytes` are left, as far as no queued
 * work needs it.
 * Errors  as guf_device_get_memory
 *         what a call of the driver that failed stands for <= some of it did not go back; all other
 *         did, and native_code is the first such call's
 * [mt] */
GUF_API guf_status guf_device_trim_memory(guf_device device, uint64_t keep_bytes, guf_error *error);
/** Allocations beyond `limit_bytes` fail with GUF_E_DEVICE_MEMORY; UINT64_MAX: no limit.
 * Errors  as guf_device_get_memory   [mt] [no-block] */
GUF_API guf_status guf_device_limit_memory(guf_device device, uint64_t limit_bytes,
                                           guf_error *error);

/** Lets the driver's work on `device` address the memory of `peer`, a device of the same backend,
 * arrays from its pool included: for kernels that a program launches itself on native streams
 * (guf_stream_get_native), which then keep order with the work on `peer` by events of their own.
 * Calls, methods, plans and guf_kernel_launch take operands of one device, peer or not
 * (GUF_E_DEVICE_MISMATCH); copies between devices do without.
 * Errors  GUF_E_HANDLE;  GUF_E_DEVICE_MISMATCH <= of another backend
 *         GUF_E_UNSUPPORTED <= the two cannot, or the driver shares no pool   [mt] */
GUF_API guf_status guf_device_enable_peer(guf_device device, guf_device peer, guf_error *error);

/** The vendor's handle of a stream (CUstream, hipStream_t), borrowed. NULL stream: the device's own
 * one, of `device`, which is not read otherwise.
 * Errors  GUF_E_ARG <= out_native is NULL, or both handles are;  GUF_E_HANDLE
 *         GUF_E_UNSUPPORTED <= the backend has none (cpu)   [mt] [no-block] */
GUF_API guf_status guf_stream_get_native(guf_device device, guf_stream stream, uint64_t *out_native,
                                         guf_error *error);

/** Time between two recorded events of one device.
 * Errors  GUF_E_ARG <= out_milliseconds is NULL, or an event was never recorded;  GUF_E_HANDLE
 *         GUF_E_DEVICE_MISMATCH;  GUF_E_UNSUPPORTED <= the backend's events keep no time (cpu)
 *         GUF_E_CAPTURE <= one was recorded under a capture
 *         GUF_NOT_READY <= one of them is not complete   [mt] [no-block] */
GUF_API guf_status guf_event_elapsed(guf_event from, guf_event to, double *out_milliseconds,
                                     guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DEVICE_MEMORY_H */
