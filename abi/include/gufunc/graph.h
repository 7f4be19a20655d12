/* SPDX-License-Identifier: Apache-2.0
 * Graphs: work of a stream that is captured once and can be launched many times as one unit. */
#ifndef GUFUNC_GRAPH_H
#define GUFUNC_GRAPH_H

#include "stream.h"

GUF_BEGIN_DECLS

typedef struct guf_graph_s *guf_graph;

/** Begins a capture: work that is queued on `stream` is recorded instead of run, until
 * guf_stream_end_capture. A capture can record launches of plans, events, and calls and copies
 * between arrays of the device that allocate nothing (all outputs are given, operands do not
 * overlap, no cast needs a buffer). Every other operation on the stream, and every wait for the
 * stream, returns GUF_E_CAPTURE; the capture stays valid and does not contain the rejected
 * operation. The library keeps the arrays of captured work alive. A loop that may fail (integer
 * power, functions with failure=) reports its failure on the stream on which the graph is launched.
 * Branches: a stream of the same device that waits for an event recorded in the capture joins the
 * capture until the capture ends. The work of such a branch must end in an event that `stream`
 * waits for. An event that is recorded in a capture is a point in the graph: querying it or waiting
 * for it on the host yields GUF_E_CAPTURE until it is recorded again outside a capture.
 * Any thread may continue or end a capture, but only one thread at a time may use the streams of
 * the capture. Releasing a stream during its capture also discards the capture.
 * [mt-object] [no-block]
 * Errors  GUF_E_HANDLE      <= stream is not a live stream
 *         GUF_E_FORKED      <= the stream was created before a fork
 *         GUF_E_CAPTURE     <= the stream is already captured, or has joined a capture
 *         GUF_E_UNSUPPORTED <= the device's backend has no graphs (cpu) */
GUF_API guf_status guf_stream_begin_capture(guf_stream stream, guf_error *error);

/** Ends a capture. If *inout_graph is NULL, it receives a new graph; else the work of that graph is
 * replaced. Replacing is cheapest if the new work differs only in its addresses.
 * Ownership  the caller receives one reference to a new graph.
 * [mt-object]
 * Errors     GUF_E_ARG             <= inout_graph is NULL
 *            GUF_E_HANDLE          <= stream or *inout_graph is not a live handle of its kind
 *            GUF_E_FORKED          <= the stream was created before a fork
 *            GUF_E_CAPTURE         <= the stream is not captured; or it has joined the capture of
 *                                     another stream, which continues; or a branch does not end in
 *                                     an event that the stream waits for, and the capture is
 *                                     discarded
 *            GUF_E_DEVICE_MISMATCH <= the graph belongs to another device; the capture is
 *                                     discarded */
GUF_API guf_status guf_stream_end_capture(guf_stream stream, guf_graph *inout_graph,
                                          guf_error *error);

/** Queues the work of the graph on a stream of its device. Launches of one graph run one after
 * another, even if they are on different streams. A launch keeps the objects that it uses alive, so
 * the graph may be replaced or released while the launch runs.
 * [mt] [no-block]
 * Errors  GUF_E_HANDLE          <= graph or stream is not a live handle of its kind
 *         GUF_E_FORKED          <= the graph or stream was created before a fork
 *         GUF_E_DEVICE_MISMATCH <= the stream belongs to another device
 *         GUF_E_LAUNCH          <= the driver refused the launch
 *         GUF_E_CAPTURE         <= the stream is being captured */
GUF_API guf_status guf_graph_launch(guf_graph graph, guf_stream stream, guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= graph is not a live graph (NULL is allowed and has no effect) */
GUF_API guf_status guf_graph_retain(guf_graph graph, guf_error *error);
GUF_API guf_status guf_graph_release(guf_graph graph, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_GRAPH_H */
