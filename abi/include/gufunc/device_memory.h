/* SPDX-License-Identifier: Apache-2.0
 * Device memory beyond plain arrays: host memory that a device copies or accesses directly, the
 * memory pools of devices, and the vendor's own handles. */
#ifndef GUFUNC_DEVICE_MEMORY_H
#define GUFUNC_DEVICE_MEMORY_H

#include "array.h"

GUF_BEGIN_DECLS

enum guf_host_memory {
  GUF_HOST_PINNED = 1, /* page-locked; copies to and from the device need no staging */
  GUF_HOST_MAPPED = 2, /* page-locked, and accessed by the device in place */
  GUF_HOST_MANAGED = 3 /* migrates to the processor that accesses it */
};

/** Allocates an array in host memory for use with `device`, with unspecified values. The array
 * belongs to the host, which may access it whenever no queued work uses it. Calls on `device` use
 * mapped and managed arrays in place, and copy pinned ones. On the cpu the memory is ordinary.
 * Ownership and layout as guf_array_alloc.
 * [mt]
 * Errors  as guf_array_alloc, and
 *         GUF_E_ARG         <= memory is not a guf_host_memory
 *         GUF_E_UNSUPPORTED <= the device does not support that kind of memory */
GUF_API guf_status guf_array_alloc_host(guf_device device, int32_t memory, guf_dtype dtype,
                                        int32_t ndim, const int64_t *shape, const int64_t *strides,
                                        int32_t order, guf_array *out_array, guf_error *error);

/** Page-locks `size` bytes of the caller's memory for `device`, until guf_host_unregister with the
 * same device and address. The memory must stay valid until then. On the cpu both functions have no
 * effect.
 * [mt]
 * Errors  GUF_E_ARG         <= address or size is 0; the range exceeds the address space; or, in
 *                              guf_host_unregister, the memory is not registered
 *         GUF_E_EXISTS      <= part of the memory is already registered with a device of the same
 *                              backend
 *         GUF_E_HANDLE      <= device is not a live device
 *         GUF_E_UNSUPPORTED <= the device cannot page-lock memory
 *         GUF_E_NO_MEMORY   <= a host allocation failed, or the system cannot lock more memory */
GUF_API guf_status guf_host_register(guf_device device, uint64_t address, uint64_t size,
                                     guf_error *error);
GUF_API guf_status guf_host_unregister(guf_device device, uint64_t address, guf_error *error);

/** Memory of the arrays on one device, in bytes unless stated otherwise. */
typedef struct guf_device_memory {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;         /* used by arrays and by queued work */
  uint64_t peak_bytes;         /* maximum of live_bytes so far */
  uint64_t cached_bytes;       /* freed, and kept for later allocations */
  uint64_t limit_bytes;        /* limit of live_bytes + cached_bytes; UINT64_MAX: none */
  uint64_t allocations;        /* number of allocations so far */
  uint64_t driver_allocations; /* number of allocations that called the driver */
  uint64_t free_bytes;         /* free memory of the whole device, as reported by its driver */
  uint64_t total_bytes;
} guf_device_memory;

/** Returns the memory statistics of a device.
 * [mt]
 * Errors  GUF_E_ARG         <= out_memory is NULL
 *         GUF_E_HANDLE      <= device is not a live device
 *         GUF_E_STRUCT      <= out_memory->struct_size is smaller than in the first version
 *         GUF_E_UNSUPPORTED <= the device's backend has no memory pool (cpu) */
GUF_API guf_status guf_device_get_memory(guf_device device, guf_device_memory *out_memory,
                                         guf_error *error);
/** Returns cached memory to the driver until at most `keep_bytes` remain cached. Memory that queued
 * work needs is kept.
 * [mt]
 * Errors  as guf_device_get_memory, and
 *         any status <= a call of the driver failed and some memory was not returned; all other
 *                       memory was. native_code is the code of the first failed call */
GUF_API guf_status guf_device_trim_memory(guf_device device, uint64_t keep_bytes, guf_error *error);
/** Limits the memory of a device. An allocation that would exceed `limit_bytes` fails with
 * GUF_E_DEVICE_MEMORY. UINT64_MAX means no limit.
 * [mt] [no-block]
 * Errors  as guf_device_get_memory */
GUF_API guf_status guf_device_limit_memory(guf_device device, uint64_t limit_bytes,
                                           guf_error *error);

/** Lets work on `device` access the memory of `peer`, a device of the same backend, including
 * arrays from its pool. This is for kernels that the program itself launches on native streams
 * (guf_stream_get_native); the program must order these kernels with the work on `peer` by its own
 * events. Calls, methods, plans and guf_kernel_launch still require all operands on one device
 * (GUF_E_DEVICE_MISMATCH). Copies between devices do not need peer access.
 * [mt]
 * Errors  GUF_E_HANDLE          <= device or peer is not a live device
 *         GUF_E_DEVICE_MISMATCH <= the devices belong to different backends
 *         GUF_E_UNSUPPORTED     <= the devices have no peer access, or the driver cannot share
 *                                  pools */
GUF_API guf_status guf_device_enable_peer(guf_device device, guf_device peer, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DEVICE_MEMORY_H */
