/* SPDX-License-Identifier: Apache-2.0
 * Graphs: work of a stream, captured once and launched many times at the price of one launch. */
#ifndef GUFUNC_GRAPH_H
#define GUFUNC_GRAPH_H

#include "stream.h"

GUF_BEGIN_DECLS

typedef struct guf_graph_s *guf_graph;

/** From now on what is queued on `stream` is recorded instead of run, until guf_stream_end_capture.
 * Captured may be: launches of plans; calls and copies between arrays of the device that allocate
 * nothing (outputs given, no overlap, no cast that needs room); events. Everything else on the
 * stream gives GUF_E_CAPTURE. The library keeps the arrays that captured work uses.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED;  GUF_E_CAPTURE <= the stream is captured already
 *         GUF_E_UNSUPPORTED <= the device's backend has no graphs (cpu)
 * [mt-object] [no-block] */
GUF_API guf_status guf_stream_begin_capture(guf_stream stream, guf_error *error);

/** Ends a capture. `*inout_graph` NULL: receives a new graph, one reference for the caller; else
 * that graph's work is replaced (the same work with other addresses costs least).
 * Errors  GUF_E_ARG <= inout_graph is NULL;  GUF_E_HANDLE;  GUF_E_FORKED
 *         GUF_E_CAPTURE <= the stream is not captured, or a call has broken the capture: it is over
 *         GUF_E_DEVICE_MISMATCH <= the graph is of another device
 * [mt-object] */
GUF_API guf_status guf_stream_end_capture(guf_stream stream, guf_graph *inout_graph,
                                          guf_error *error);

/** Queues the graph's work on a stream of its device.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED;  GUF_E_DEVICE_MISMATCH;  GUF_E_LAUNCH   [mt] [no-block] */
GUF_API guf_status guf_graph_launch(guf_graph graph, guf_stream stream, guf_error *error);

/** Errors  GUF_E_HANDLE <= graph (NULL is allowed and does nothing)   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_graph_retain(guf_graph graph, guf_error *error);
GUF_API guf_status guf_graph_release(guf_graph graph, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_GRAPH_H */
