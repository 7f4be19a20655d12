/* SPDX-License-Identifier: Apache-2.0
 * Streams: queues of work, which a device runs in order. Events: points in a stream. */
#ifndef GUFUNC_STREAM_H
#define GUFUNC_STREAM_H

#include "device.h"

GUF_BEGIN_DECLS

typedef struct guf_stream_s *guf_stream;
typedef struct guf_event_s *guf_event;

/* A stream keeps the first failure of its work: status, message and number of the launch. Events
 * that are recorded after the failure report it. guf_stream_synchronize reports the failure once
 * and clears it. Work that is queued after a failure still runs.
 *
 * The default stream of a device queues the work of calls with a NULL stream. It belongs to the
 * library and is not the vendor's default stream. The cpu has no default stream: a call with a NULL
 * stream is complete on return. */

/** Creates a stream. `flags` must be 0. An idle stream of the cpu runs small work inside the call
 * that queues this work, and larger work on the stream's own thread.
 * Ownership  the caller receives one reference. Pending work completes even if the stream is
 *            released.
 * [mt]
 * Errors     GUF_E_ARG       <= out_stream is NULL, or flags is not 0
 *            GUF_E_HANDLE    <= device is not a live device
 *            GUF_E_NO_MEMORY <= a host allocation failed
 *            GUF_E_SHUTDOWN  <= after guf_shutdown */
GUF_API guf_status guf_stream_create(guf_device device, uint32_t flags, guf_stream *out_stream,
                                     guf_error *error);

/** Adopts a CUstream or hipStream_t. If the caller captures the native stream with the vendor's
 * functions, the capture records calls that allocate nothing and launches of plans, except loops
 * that may fail (integer power, functions with failure=). The caller must keep the memory of
 * captured work alive. During such a capture, every other operation on the stream returns
 * GUF_E_CAPTURE.
 * Ownership  the caller receives one reference. The native stream stays the caller's and must
 *            outlive the handle.
 * [mt] [no-block]
 * Errors     GUF_E_ARG             <= out_stream is NULL, native is 0, or flags is not 0
 *            GUF_E_HANDLE          <= device is not a live device; or the driver reports that
 *                                     native is not a stream, or that its context is destroyed
 *            GUF_E_DEVICE_MISMATCH <= the driver detects that native belongs to another device or
 *                                     context (guf_device_adopt)
 *            GUF_E_UNSUPPORTED     <= the device's backend has no native streams (cpu)
 *            GUF_E_FORKED          <= the device belongs to the parent process
 *            GUF_E_DEVICE_LOST     <= the device failed in this process
 *            GUF_E_NO_MEMORY       <= a host allocation failed
 *            GUF_E_SHUTDOWN        <= after guf_shutdown */
GUF_API guf_status guf_stream_adopt(guf_device device, uint64_t native, uint32_t flags,
                                    guf_stream *out_stream, guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= stream is not a live stream (NULL is allowed and has no effect) */
GUF_API guf_status guf_stream_retain(guf_stream stream, guf_error *error);
GUF_API guf_status guf_stream_release(guf_stream stream, guf_error *error);

/** Returns the device of a stream.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_device is NULL
 *         GUF_E_HANDLE <= stream is not a live stream */
GUF_API guf_status guf_stream_get_device(guf_stream stream, guf_device *out_device,
                                         guf_error *error);

/** Returns the vendor's handle of a stream (CUstream, hipStream_t). With a NULL stream, returns the
 * default stream of `device`. `device` is ignored if stream is not NULL.
 * Ownership  the handle is borrowed from the stream.
 * [mt] [no-block]
 * Errors     GUF_E_ARG         <= out_native is NULL, or both device and stream are NULL
 *            GUF_E_HANDLE      <= device or stream is not a live handle of its kind
 *            GUF_E_UNSUPPORTED <= the backend has no native streams (cpu) */
GUF_API guf_status guf_stream_get_native(guf_device device, guf_stream stream, uint64_t *out_native,
                                         guf_error *error);

/** Returns GUF_OK if all queued work is complete, GUF_NOT_READY while it runs. Does not report
 * failures of the work.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE  <= stream is not a live stream
 *         GUF_E_FORKED  <= the stream was created before a fork
 *         GUF_E_CAPTURE <= the stream is being captured */
GUF_API guf_status guf_stream_query(guf_stream stream, guf_error *error);

/** Waits until all work queued so far is complete, for at most `timeout_ns` nanoseconds
 * (UINT64_MAX: no limit). Returns GUF_OK, or the stream's first failure since the last report.
 * GUF_TIMEOUT means that the work is still running; no failure is reported or lost.
 * [mt], blocks
 * Errors  GUF_E_HANDLE  <= stream is not a live stream
 *         GUF_E_FORKED  <= the stream was created before a fork
 *         GUF_E_CAPTURE <= the stream is being captured
 *         any status    <= the failure of the work */
GUF_API guf_status guf_stream_synchronize(guf_stream stream, uint64_t timeout_ns, guf_error *error);

/** Makes work that is queued on `stream` later wait for `event`, and returns immediately. An event
 * that was never recorded is complete.
 * [mt]
 * Errors  GUF_E_HANDLE          <= stream or event is not a live handle of its kind
 *         GUF_E_FORKED          <= the stream or event was created before a fork
 *         GUF_E_DEVICE_MISMATCH <= the event belongs to another backend
 *         GUF_E_CAPTURE         <= the event was recorded in a capture that has ended, on another
 *                                  device, or in a different capture than the stream's
 *                                  (gufunc/graph.h) */
GUF_API guf_status guf_stream_wait_event(guf_stream stream, guf_event event, guf_error *error);

/** Creates an event of a device. An event that was never recorded is complete. `flags` must be 0.
 * Ownership  the caller receives one reference.
 * [mt]
 * Errors     GUF_E_ARG       <= out_event is NULL, or flags is not 0
 *            GUF_E_HANDLE    <= device is not a live device
 *            GUF_E_NO_MEMORY <= a host allocation failed
 *            GUF_E_SHUTDOWN  <= after guf_shutdown */
GUF_API guf_status guf_event_create(guf_device device, uint32_t flags, guf_event *out_event,
                                    guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= event is not a live event (NULL is allowed and has no effect) */
GUF_API guf_status guf_event_retain(guf_event event, guf_error *error);
GUF_API guf_status guf_event_release(guf_event event, guf_error *error);

/** Records the event at the current end of `stream`. Recording an event again replaces the earlier
 * recording.
 * [mt-object] [no-block]
 * Errors  GUF_E_HANDLE          <= event or stream is not a live handle of its kind
 *         GUF_E_FORKED          <= the event or stream was created before a fork
 *         GUF_E_DEVICE_MISMATCH <= event and stream belong to different devices */
GUF_API guf_status guf_event_record(guf_event event, guf_stream stream, guf_error *error);

/** Returns GUF_OK if the stream has reached the event, GUF_NOT_READY if it has not. If the stream
 * had failed before the event was recorded, returns that failure.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE  <= event is not a live event
 *         GUF_E_FORKED  <= the event was created before a fork
 *         GUF_E_CAPTURE <= the event was recorded in a capture */
GUF_API guf_status guf_event_query(guf_event event, guf_error *error);

/** Waits until the stream has reached the event, for at most `timeout_ns` nanoseconds (UINT64_MAX:
 * no limit). Returns what guf_event_query returns, or GUF_TIMEOUT.
 * [mt], blocks
 * Errors  as guf_event_query */
GUF_API guf_status guf_event_wait(guf_event event, uint64_t timeout_ns, guf_error *error);

/** Returns the time in milliseconds between two recorded events of one device.
 * [mt] [no-block]
 * Errors  GUF_E_ARG             <= out_milliseconds is NULL, or an event was never recorded
 *         GUF_E_HANDLE          <= an event is not a live event
 *         GUF_E_DEVICE_MISMATCH <= the events belong to different devices
 *         GUF_E_UNSUPPORTED     <= the backend's events have no time (cpu)
 *         GUF_E_CAPTURE         <= an event was recorded in a capture
 *         GUF_NOT_READY         <= an event is not complete */
GUF_API guf_status guf_event_elapsed(guf_event from, guf_event to, double *out_milliseconds,
                                     guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_STREAM_H */
