/* SPDX-License-Identifier: Apache-2.0
 * The extension "gufunc.gpu" of backends for GPUs: what a host may want beyond the table of
 * gufunc/backend.h. Asked for with the slot `extension`; constant, and valid for the life of the
 * process.
 *
 * The rules of backend.h hold: fallible functions return a guf_status and take a non-NULL guf_error
 * last; any thread; devices, streams and events are the plugin's own objects; a NULL stream is the
 * device's own default stream. Every function may answer GUF_E_FORKED and GUF_E_DEVICE_LOST. */
#ifndef GUFUNC_BACKEND_GPU_H
#define GUFUNC_BACKEND_GPU_H

#include "backend.h"

GUF_BEGIN_DECLS

enum guf_gpu_extension { GUF_GPU_EXTENSION_VERSION = 1 };

/** Memory of one kind on one device. */
typedef struct guf_gpu_memory {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;         /* handed out, as rounded */
  uint64_t peak_bytes;         /* the most there ever were of these */
  uint64_t cached_bytes;       /* freed, kept for the next allocation */
  uint64_t limit_bytes;        /* of both together; UINT64_MAX: none */
  uint64_t allocations;        /* since the device was opened */
  uint64_t driver_allocations; /* those of them that reached the driver */
  uint64_t device_free_bytes;  /* of the whole device, as its driver sees it */
  uint64_t device_total_bytes;
} guf_gpu_memory;

enum guf_gpu_capture {
  GUF_GPU_CAPTURE_GLOBAL = 0, /* unsafe calls of any thread are refused meanwhile */
  GUF_GPU_CAPTURE_THREAD = 1, /* those of this thread */
  GUF_GPU_CAPTURE_RELAXED = 2 /* none */
};

typedef struct guf_gpu_api {
  uint32_t struct_size;
  uint32_t version; /* GUF_GPU_EXTENSION_VERSION of the plugin */

  /* `kind` is a guf_memory_kind. */
  guf_status (*memory_statistics)(void *device, int32_t kind, guf_gpu_memory *out_memory,
                                  guf_error *error);
  /* Gives cached memory back to the driver until at most `keep_bytes` are left, as far as no queued
   * work needs it. A failure of the driver is told after all else went back. */
  guf_status (*memory_trim)(void *device, int32_t kind, uint64_t keep_bytes, guf_error *error);
  /* Allocations beyond it fail with GUF_E_DEVICE_MEMORY (GUF_E_NO_MEMORY for host memory). */
  guf_status (*memory_limit)(void *device, int32_t kind, uint64_t limit_bytes, guf_error *error);

  /* Makes memory of the host page-locked, so that copies need no staging, and lets it be.
   * Errors  GUF_E_EXISTS <= it is registered already;  GUF_E_ARG <= it was not */
  guf_status (*host_register)(void *device, uint64_t address, uint64_t size, guf_error *error);
  guf_status (*host_unregister)(void *device, uint64_t address, guf_error *error);

  /* The vendor's handles: CUcontext (0 with HIP, which has none), CUstream, hipStream_t, CUevent,
   * hipEvent_t. Borrowed. */
  guf_status (*device_native)(void *device, uint64_t *out_context, int32_t *out_index,
                              guf_error *error);
  guf_status (*stream_native)(void *device, void *stream, uint64_t *out_native, guf_error *error);
  guf_status (*event_native)(void *event, uint64_t *out_native, guf_error *error);

  /* Lets kernels and copies of `device` address the memory of `peer`, that of its pool too; once is
   * enough.
   * Errors  GUF_E_UNSUPPORTED <= the two cannot */
  guf_status (*peer_enable)(void *device, void *peer, guf_error *error);
  /* Copies between two devices in the order of a stream of `device`; through the host where they
   * are no peers. */
  guf_status (*peer_copy)(void *device, void *stream, uint64_t dst, void *dst_device, uint64_t src,
                          void *src_device, uint64_t size, guf_error *error);

  /* Time between two recorded events of one device, in milliseconds.
   * Errors  GUF_NOT_READY <= one of them is not complete;  GUF_E_ARG <= one was never recorded */
  guf_status (*event_elapsed)(void *from, void *to, double *out_milliseconds, guf_error *error);

  /* Captures what is queued on the stream from now on (a guf_gpu_capture) instead of running it.
   * Meanwhile no memory can be allocated for the stream, ordinary host memory cannot be copied, and
   * work with a status word is refused: GUF_E_CAPTURE. */
  guf_status (*capture_begin)(void *device, void *stream, int32_t mode, guf_error *error);
  /* Errors  GUF_E_CAPTURE <= the capture was broken by one of its calls */
  guf_status (*capture_end)(void *device, void *stream, void **out_graph, guf_error *error);
  /* Makes it runnable; graph_launch does so too, where it was not done. */
  guf_status (*graph_instantiate)(void *graph, guf_error *error);
  /* Puts the work of `newer` in the place of the graph's; `newer` stays the caller's. */
  guf_status (*graph_update)(void *graph, void *newer, guf_error *error);
  guf_status (*graph_launch)(void *graph, void *stream, guf_error *error);
  /* NULL is allowed. Runs that are under way complete. Memory that was freed under the capture is
   * anybody's from then on. */
  void (*graph_destroy)(void *graph);

  /* Which device the memory at an address is of, as the driver says, among the backend's; -1: it
   * knows no memory there. */
  guf_status (*memory_device)(void *device, uint64_t address, int32_t *out_index, guf_error *error);
} guf_gpu_api;

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_GPU_H */
