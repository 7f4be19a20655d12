/* SPDX-License-Identifier: Apache-2.0
 * The extension "gufunc.trace" of backends: what their devices did and when, for the file that
 * GUFUNC_TRACE names (docs/tracing.md). The host asks for it with the slot `extension` only where a
 * trace is written, before it probes the backend. A backend without it appears in traces by the
 * calls of its slots alone.
 *
 * The rules of backend.h hold. Off is the common case: a plugin that was not started should pay no
 * more than a branch for a piece of work. */
#ifndef GUFUNC_BACKEND_TRACE_H
#define GUFUNC_BACKEND_TRACE_H

#include "backend.h"

GUF_BEGIN_DECLS

enum guf_trace_extension { GUF_TRACE_EXTENSION_VERSION = 1 };

enum guf_trace_kind {
  GUF_TRACE_LAUNCH = 1, /* a kernel, or a loop of the host */
  GUF_TRACE_METHOD = 2, /* a whole method */
  GUF_TRACE_CONVERT = 3,
  GUF_TRACE_COPY = 4,
  GUF_TRACE_FILL = 5,
  GUF_TRACE_GRAPH = 6,
  GUF_TRACE_WAIT = 7, /* of a stream for an event */
  GUF_TRACE_OTHER = 8
};

enum guf_trace_flag {
  GUF_TRACE_HOST_TIME = 1u << 0,  /* the times are the host's, of queueing the work */
  GUF_TRACE_FUNCTION = 1u << 1,   /* `registers`, `static_shared_bytes`, `local_bytes` are known */
  GUF_TRACE_GRID = 1u << 2,       /* `grid`, `block`, `shared_bytes` are known */
  GUF_TRACE_OWN_STREAM = 1u << 3, /* of the stream that NULL stands for */
  GUF_TRACE_PEER = 1u << 4        /* a copy from or to another device */
};

/** One piece of work on a stream. Plain data; times are of CLOCK_MONOTONIC, in nanoseconds. */
typedef struct guf_trace_work {
  uint32_t struct_size;
  int32_t kind;      /* guf_trace_kind; 0: that of the call it is part of */
  uint32_t flags;    /* guf_trace_flag */
  int32_t direction; /* of a copy: guf_copy_kind */
  int32_t device;    /* index among the backend's devices */
  uint32_t stream;   /* the plugin's number of it; never of two streams of one device */
  uint64_t begin_ns, end_ns;
  uint64_t bytes; /* moved; 0: what the call moves */
  uint32_t grid[3], block[3];
  uint32_t shared_bytes;                                /* given at the launch */
  uint32_t static_shared_bytes, registers, local_bytes; /* of the function, per work-item */
  /* Written by `queued`, kept for `done`. */
  uint64_t call;  /* the slot's call that it is part of; 0: of none */
  uint64_t items; /* of that call */
  uint64_t queued_ns;
  uint32_t thread; /* that queued it */
  uint32_t chunk;  /* of guf_call_chunked, from 1 on; 0: none */
  char name[96];   /* "": the call's */
  char kernel[96]; /* of a launch: the function's own name; "": it has none */
} guf_trace_work;

/** What the host gives. Its functions: any thread, wait for nothing, allocate nothing. */
typedef struct guf_trace_sink {
  uint32_t struct_size;
  uint32_t reserved;
  void *context;
  /* On the thread inside a slot, when the work is queued: fills in what only the host knows. */
  void (*queued)(void *context, guf_trace_work *work);
  /* When its times are known. The work is copied. */
  void (*done)(void *context, const guf_trace_work *work);
  /* Instead of both, of a piece of work on a stream of device `device` for which there is no room
   * or memory. The trace says how many there were. A sink of an older host ends before this. */
  void (*left_out)(void *context, int32_t device);
} guf_trace_sink;

typedef struct guf_trace_api {
  uint32_t struct_size;
  uint32_t version; /* GUF_TRACE_EXTENSION_VERSION of the plugin */
  /* From now on for devices that are opened later; NULL: those are not traced. The sink lives as
   * long as the process. Calls no driver. */
  void (*start)(const guf_trace_sink *sink);
  /* Gives the sink all that is complete by now. Waits for no work. */
  void (*collect)(void);
} guf_trace_api;

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_TRACE_H */
