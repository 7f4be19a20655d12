/* SPDX-License-Identifier: Apache-2.0
 * Graphs: work of a stream, captured once and launched many times, each time as one. */
#ifndef GUFUNC_GRAPH_H
#define GUFUNC_GRAPH_H

#include "stream.h"

GUF_BEGIN_DECLS

typedef struct guf_graph_s *guf_graph;

/** From now on what is queued on `stream` is recorded instead of run, until guf_stream_end_capture.
 * Captured may be: launches of plans; calls and copies between arrays of the device that allocate
 * nothing (outputs given, no overlap, no cast that needs room); events. Everything else on the
 * stream, and any wait for it, gives GUF_E_CAPTURE; the capture goes on without it. The library
 * keeps the arrays that captured work uses. Loops that may fail (integer power, functions with
 * failure=) fail on the stream that the graph is launched on.
 * Branches: a stream of the same device that waits for an event recorded here joins the capture
 * until it ends; its work has to end in an event that `stream` waits for. Events recorded under a
 * capture mark a place in the graph: to query them or wait for them gives GUF_E_CAPTURE until they
 * are recorded anew.
 * Any thread may go on with a capture and end it; one at a time uses its streams. A stream that is
 * released while it is captured takes the capture along.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED
 *         GUF_E_CAPTURE <= the stream is captured already, or joined a capture
 *         GUF_E_UNSUPPORTED <= the device's backend has no graphs (cpu)
 * [mt-object] [no-block] */
GUF_API guf_status guf_stream_begin_capture(guf_stream stream, guf_error *error);

/** Ends a capture. `*inout_graph` NULL: receives a new graph, one reference for the caller; else
 * that graph's work is replaced (the same work with other addresses costs least).
 * Errors  GUF_E_ARG <= inout_graph is NULL;  GUF_E_HANDLE;  GUF_E_FORKED
 *         GUF_E_CAPTURE <= the stream is not captured, or joined the capture of another one, which
 *                          goes on; or a branch has no end: the capture is over
 *         GUF_E_DEVICE_MISMATCH <= the graph is of another device: the capture is over
 * [mt-object] */
GUF_API guf_status guf_stream_end_capture(guf_stream stream, guf_graph *inout_graph,
                                          guf_error *error);

/** Queues the graph's work on a stream of its device. Launches of one graph follow each other,
 * whatever their streams, and keep what they use: the graph may be replaced or released meanwhile.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED;  GUF_E_DEVICE_MISMATCH;  GUF_E_LAUNCH
 *         GUF_E_CAPTURE <= the stream is being captured   [mt] [no-block] */
GUF_API guf_status guf_graph_launch(guf_graph graph, guf_stream stream, guf_error *error);

/** Errors  GUF_E_HANDLE <= graph (NULL is allowed and does nothing)   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_graph_retain(guf_graph graph, guf_error *error);
GUF_API guf_status guf_graph_release(guf_graph graph, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_GRAPH_H */
