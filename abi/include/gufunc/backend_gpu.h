/* SPDX-License-Identifier: Apache-2.0
 * The extension "gufunc.gpu" of GPU backends: slots that gufunc/backend.h does not have. The
 * host requests it with the slot `extension`. The table is constant and valid for the life of the
 * process.
 *
 * The rules of backend.h apply: fallible functions return a guf_status and take a non-NULL
 * guf_error last; any thread may call them; devices, streams and events are objects of the plugin;
 * a NULL stream is the device's default stream. Every function may return GUF_E_FORKED and
 * GUF_E_DEVICE_LOST. */
#ifndef GUFUNC_BACKEND_GPU_H
#define GUFUNC_BACKEND_GPU_H

#include "backend.h"

GUF_BEGIN_DECLS

enum guf_gpu_extension { GUF_GPU_EXTENSION_VERSION = 1 };

/** Memory of one kind on one device, in bytes unless stated otherwise. */
typedef struct guf_gpu_memory {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live_bytes;         /* in use, including rounding */
  uint64_t peak_bytes;         /* maximum of live_bytes so far */
  uint64_t cached_bytes;       /* freed, and kept for later allocations */
  uint64_t limit_bytes;        /* limit of live_bytes + cached_bytes; UINT64_MAX: none */
  uint64_t allocations;        /* number since the device was opened */
  uint64_t driver_allocations; /* number of allocations that called the driver */
  uint64_t device_free_bytes;  /* free memory of the whole device, as reported by its driver */
  uint64_t device_total_bytes;
} guf_gpu_memory;

enum guf_gpu_capture {
  GUF_GPU_CAPTURE_GLOBAL = 0, /* refuses unsafe calls of all threads during the capture */
  GUF_GPU_CAPTURE_THREAD = 1, /* refuses unsafe calls of this thread */
  GUF_GPU_CAPTURE_RELAXED = 2 /* refuses no calls */
};

typedef struct guf_gpu_api {
  uint32_t struct_size;
  uint32_t version; /* GUF_GPU_EXTENSION_VERSION of the plugin */

  /* Returns the statistics of one kind of memory. `kind` is a guf_memory_kind. */
  guf_status (*memory_statistics)(void *device, int32_t kind, guf_gpu_memory *out_memory,
                                  guf_error *error);
  /* Returns cached memory to the driver until at most `keep_bytes` remain cached; memory that
   * queued work needs is kept. A failure of the driver is reported after all other memory was
   * returned. */
  guf_status (*memory_trim)(void *device, int32_t kind, uint64_t keep_bytes, guf_error *error);
  /* Allocations beyond the limit fail with GUF_E_DEVICE_MEMORY (GUF_E_NO_MEMORY for host
   * memory). */
  guf_status (*memory_limit)(void *device, int32_t kind, uint64_t limit_bytes, guf_error *error);

  /* host_register page-locks host memory, which makes staging of its copies unnecessary.
   * host_unregister ends the page lock.
   * Errors  GUF_E_EXISTS <= host_register: the memory is already registered
   *         GUF_E_ARG    <= host_unregister: the memory is not registered */
  guf_status (*host_register)(void *device, uint64_t address, uint64_t size, guf_error *error);
  guf_status (*host_unregister)(void *device, uint64_t address, guf_error *error);

  /* Return borrowed handles of the vendor: a CUcontext (0 for HIP, which has no contexts),
   * CUstream, hipStream_t, CUevent or hipEvent_t. */
  guf_status (*device_native)(void *device, uint64_t *out_context, int32_t *out_index,
                              guf_error *error);
  guf_status (*stream_native)(void *device, void *stream, uint64_t *out_native, guf_error *error);
  guf_status (*event_native)(void *event, uint64_t *out_native, guf_error *error);

  /* Lets kernels and copies of `device` access the memory of `peer`, including memory from the pool
   * of `peer`. One call per pair of devices is enough.
   * Errors  GUF_E_UNSUPPORTED <= the devices have no peer access */
  guf_status (*peer_enable)(void *device, void *peer, guf_error *error);
  /* Copies between two devices on a stream of `device`. The copy goes through the host if the
   * devices have no peer access. */
  guf_status (*peer_copy)(void *device, void *stream, uint64_t dst, void *dst_device, uint64_t src,
                          void *src_device, uint64_t size, guf_error *error);

  /* Returns the time between two recorded events of one device, in milliseconds.
   * Errors  GUF_NOT_READY <= an event is not complete
   *         GUF_E_ARG     <= an event was never recorded */
  guf_status (*event_elapsed)(void *from, void *to, double *out_milliseconds, guf_error *error);

  /* Begins a capture: work on the stream is recorded instead of run. `mode` is a guf_gpu_capture.
   * During the capture, allocations for the stream, copies of pageable host memory, and work that
   * detects floating-point flags fail with GUF_E_CAPTURE. Work that may fail is recorded, and each
   * run of the graph reports the failures of that run. If the program began the capture with
   * functions of the vendor, work that may fail is refused with GUF_E_CAPTURE. */
  guf_status (*capture_begin)(void *device, void *stream, int32_t mode, guf_error *error);
  /* Ends a capture and returns its graph.
   * Errors  GUF_E_CAPTURE <= a call during the capture invalidated it */
  guf_status (*capture_end)(void *device, void *stream, void **out_graph, guf_error *error);
  /* Makes the graph launchable. graph_launch does this itself if necessary. */
  guf_status (*graph_instantiate)(void *graph, guf_error *error);
  /* Replaces the work of the graph by the work of the graph `newer`, which the caller still owns.
   * `newer` may be destroyed before the graph. */
  guf_status (*graph_update)(void *graph, void *newer, guf_error *error);
  guf_status (*graph_launch)(void *graph, void *stream, guf_error *error);
  /* `graph` may be NULL. Launches in progress complete. Memory that was freed during the capture
   * becomes available for other allocations. */
  void (*graph_destroy)(void *graph);

  /* Returns the index, among the backend's devices, of the device to which the memory at an address
   * belongs, as reported by the driver; -1 if the driver reports no memory at this address. */
  guf_status (*memory_device)(void *device, uint64_t address, int32_t *out_index, guf_error *error);
} guf_gpu_api;

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_GPU_H */
