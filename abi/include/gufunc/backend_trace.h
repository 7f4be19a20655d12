/* SPDX-License-Identifier: Apache-2.0
 * The extension "gufunc.trace" of backends: reports what the devices did and when, for the file
 * that GUFUNC_TRACE names (docs/tracing.md). The host requests it with the slot `extension`, before
 * it probes the backend, and only if a trace is written. The trace of a backend without this
 * extension contains only the calls of its slots.
 *
 * The rules of backend.h apply. Tracing is usually off: a plugin whose function `start` was not
 * called should spend at most one branch per operation. */
#ifndef GUFUNC_BACKEND_TRACE_H
#define GUFUNC_BACKEND_TRACE_H

#include "backend.h"

GUF_BEGIN_DECLS

enum guf_trace_extension { GUF_TRACE_EXTENSION_VERSION = 1 };

enum guf_trace_kind {
  GUF_TRACE_LAUNCH = 1, /* a kernel, or a host loop */
  GUF_TRACE_METHOD = 2, /* a whole method */
  GUF_TRACE_CONVERT = 3,
  GUF_TRACE_COPY = 4,
  GUF_TRACE_FILL = 5,
  GUF_TRACE_GRAPH = 6,
  GUF_TRACE_WAIT = 7, /* a stream waits for an event */
  GUF_TRACE_OTHER = 8
};

enum guf_trace_flag {
  GUF_TRACE_HOST_TIME = 1u << 0,      /* the times are those at which the host queued the work */
  GUF_TRACE_FUNCTION = 1u << 1,       /* `registers`, `static_shared_bytes` and `local_bytes` are
                                         valid */
  GUF_TRACE_GRID = 1u << 2,           /* `grid`, `block` and `shared_bytes` are valid */
  GUF_TRACE_DEFAULT_STREAM = 1u << 3, /* the work is on the device's default stream */
  GUF_TRACE_PEER = 1u << 4            /* a copy from or to another device */
};

/** One operation on a stream. Plain data; times are in nanoseconds of CLOCK_MONOTONIC. */
typedef struct guf_trace_work {
  uint32_t struct_size;
  int32_t kind;      /* guf_trace_kind; 0: the kind of the slot call that queued the work */
  uint32_t flags;    /* guf_trace_flag */
  int32_t direction; /* guf_copy_kind of a copy */
  int32_t device;    /* index among the backend's devices */
  uint32_t stream;   /* number of the stream, unique on its device */
  uint64_t begin_ns, end_ns;
  uint64_t bytes; /* bytes moved; 0: the bytes that the call moves */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;                                /* requested by the launch */
  uint32_t static_shared_bytes, registers, local_bytes; /* of the function; registers and
                                                           local_bytes per thread */
  /* The sink's function `queued` writes the fields below. The plugin keeps them until it calls
   * `done`. */
  uint64_t call;  /* number of the slot call that queued the work; 0: none */
  uint64_t items; /* items of that call */
  uint64_t queued_ns;
  uint32_t thread; /* thread that queued the work */
  uint32_t chunk;  /* chunk of guf_call_chunked, from 1; 0: none */
  char name[96];   /* "": the name of the call */
  char kernel[96]; /* launches: name of the kernel function; "" if it has none */
} guf_trace_work;

/** Functions of the host. They may be called from any thread, do not block and do not allocate. */
typedef struct guf_trace_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  /* The plugin calls this function inside a slot, on the thread of the slot call, when it queues
   * the work. Fills the fields that only the host knows. */
  void (*queued)(void *context, guf_trace_work *work);
  /* The plugin calls this function when the times of the work are known. The host copies `work`. */
  void (*done)(void *context, const guf_trace_work *work);
  /* The plugin calls this function instead of `queued` and `done` for an operation on device
   * `device` that cannot be recorded because buffer space or memory is exhausted. The trace reports
   * the number of such operations. The sink of an older host ends before this field. */
  void (*unreported)(void *context, int32_t device);
} guf_trace_sink;

typedef struct guf_trace_api {
  uint32_t struct_size;
  uint32_t version; /* GUF_TRACE_EXTENSION_VERSION of the plugin */
  /* Starts tracing for devices that are opened later. If `sink` is NULL, devices that are opened
   * later are not traced. The sink lives as long as the process. Calls no driver. */
  void (*start)(const guf_trace_sink *sink);
  /* Passes the records of all completed work to the sink. Does not wait for other work. */
  void (*collect)(void);
} guf_trace_api;

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_TRACE_H */
