/* SPDX-License-Identifier: Apache-2.0
 * Streams: in-order queues of a device's work; and events, marks in them. */
#ifndef GUFUNC_STREAM_H
#define GUFUNC_STREAM_H

#include "device.h"

GUF_BEGIN_DECLS

typedef struct guf_stream_s *guf_stream;
typedef struct guf_event_s *guf_event;

/* A stream keeps the first failure of its work (its status and text, the number of the launch):
 * events recorded later report it, guf_stream_synchronize reports it once and clears it; work
 * queued later still runs. */

/** Creates a stream. On the cpu an idle stream runs small work inside the call that queues it, and
 * larger work on a thread of its own.
 * Ownership  one reference for the caller; pending work completes even if the stream is released.
 * Errors     GUF_E_ARG <= out_stream is NULL or flags is not 0;  GUF_E_HANDLE <= device;
 *            GUF_E_NO_MEMORY;  GUF_E_SHUTDOWN
 * [mt] */
GUF_API guf_status guf_stream_create(guf_device device, uint32_t flags, guf_stream *out_stream,
                                     guf_error *error);

/** Adopts a CUstream or hipStream_t. The native stream stays the caller's and must outlive the
 * handle. While the caller captures it by the vendor's functions, calls that allocate nothing and
 * launches of plans are captured, but for loops that may fail (integer power, functions with
 * failure=); the caller keeps their memory, and all else gives GUF_E_CAPTURE.
 * Errors  GUF_E_ARG <= out_stream is NULL, native is 0, flags is not 0
 *         GUF_E_HANDLE <= device; or the driver knows native as no stream, or as one whose context
 *                         is destroyed
 *         GUF_E_DEVICE_MISMATCH <= native is another device's or another context's, where the
 *                                  driver can tell (gufunc/device.h, guf_device_adopt)
 *         GUF_E_UNSUPPORTED <= the device's backend has no native streams (cpu)
 *         GUF_E_FORKED;  GUF_E_DEVICE_LOST;  GUF_E_NO_MEMORY;  GUF_E_SHUTDOWN
 * [mt] [no-block] */
GUF_API guf_status guf_stream_adopt(guf_device device, uint64_t native, uint32_t flags,
                                    guf_stream *out_stream, guf_error *error);

/** Errors  GUF_E_HANDLE <= stream (NULL is allowed and does nothing)
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_stream_retain(guf_stream stream, guf_error *error);
GUF_API guf_status guf_stream_release(guf_stream stream, guf_error *error);

/** The device of a stream.   Errors  GUF_E_ARG, GUF_E_HANDLE   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_stream_get_device(guf_stream stream, guf_device *out_device,
                                         guf_error *error);

/** GUF_OK when all queued work is done, GUF_NOT_READY while it runs. Reports no failure of the
 * work.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED <= made before a fork
 *         GUF_E_CAPTURE <= it is being captured   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_stream_query(guf_stream stream, guf_error *error);

/** Waits until everything queued so far is done, at most `timeout_ns` (UINT64_MAX: no limit), then
 * GUF_OK or the stream's first failure since the last report. GUF_TIMEOUT: still running, nothing
 * is reported or lost.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED;  GUF_E_CAPTURE <= it is being captured
 *         any status of the failed work   [mt], blocks */
GUF_API guf_status guf_stream_synchronize(guf_stream stream, uint64_t timeout_ns, guf_error *error);

/** Makes later work of `stream` wait for `event`; returns at once. An event never recorded is
 * complete.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED;  GUF_E_DEVICE_MISMATCH <= the event is another backend's
 *         GUF_E_CAPTURE <= the event is of a capture that is over, of another device's, or of
 *                          another than the stream's (gufunc/graph.h)   [mt] */
GUF_API guf_status guf_stream_wait_event(guf_stream stream, guf_event event, guf_error *error);

/** Creates an event of a device, not recorded yet (complete).
 * Errors  GUF_E_ARG <= out_event is NULL or flags is not 0;  GUF_E_HANDLE;  GUF_E_NO_MEMORY
 * [mt] */
GUF_API guf_status guf_event_create(guf_device device, uint32_t flags, guf_event *out_event,
                                    guf_error *error);

/** Errors  GUF_E_HANDLE <= event (NULL is allowed and does nothing)   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_event_retain(guf_event event, guf_error *error);
GUF_API guf_status guf_event_release(guf_event event, guf_error *error);

/** Marks the present end of `stream`. A second record moves the mark.
 * Errors  GUF_E_HANDLE;  GUF_E_DEVICE_MISMATCH <= of different devices   [mt-object] [no-block] */
GUF_API guf_status guf_event_record(guf_event event, guf_stream stream, guf_error *error);

/** GUF_OK when the mark is reached, GUF_NOT_READY before; the stream's failure if it had failed
 * before the record.
 * Errors  GUF_E_HANDLE;  GUF_E_FORKED;  GUF_E_CAPTURE <= it was recorded under a capture
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_event_query(guf_event event, guf_error *error);

/** Waits for the mark at most `timeout_ns`; answers as guf_event_query, or GUF_TIMEOUT.
 * [mt], blocks */
GUF_API guf_status guf_event_wait(guf_event event, uint64_t timeout_ns, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_STREAM_H */
