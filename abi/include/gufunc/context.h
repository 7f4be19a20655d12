/* SPDX-License-Identifier: Apache-2.0
 * The library as a whole: version, contexts, log, shutdown. */
#ifndef GUFUNC_CONTEXT_H
#define GUFUNC_CONTEXT_H

#include "status.h"

GUF_BEGIN_DECLS

/* A handle is a value, not an address: it contains its kind and a generation. A function therefore
 * returns GUF_E_HANDLE for a handle whose object was freed, that is of a different kind, or that
 * this library did not create. Releasing the last reference while another thread is inside a call
 * with that handle is an error of the caller.
 *
 * Every kind but guf_device is counted: the object of a handle has a reference count, to which
 * `_retain` adds a reference and from which `_release` drops one. A release accepts NULL, never
 * blocks, takes no lock, and calls neither a driver nor a callback. A release may happen on any
 * thread, in any order, after guf_shutdown, and in a forked child. The object itself is freed by a
 * later call, by guf_poll or by guf_shutdown. */
typedef struct guf_context_s *guf_context;

/* Marks used in all headers:
 *   [mt]            any thread may call the function at any time, even with objects that other
 *                   threads use
 *   [mt-object]     any thread may call the function while no other thread uses the same object
 *   [no-block]      never waits for a device, a file or another thread's work
 *   [no-alloc]      allocates no memory
 *   [capture-safe]  may be called while the stream is captured into a graph */

enum guf_version_number { GUF_VERSION_MAJOR = 0, GUF_VERSION_MINOR = 1, GUF_VERSION_PATCH = 0 };

/** Returns the version of the loaded library: major << 22 | minor << 12 | patch.
 * [mt] [no-block] [no-alloc] */
GUF_API uint32_t guf_version(void);

/** Returns the version as text, "0.1.0".
 * Ownership  static text, never freed.
 * [mt] [no-block] [no-alloc] */
GUF_API const char *guf_version_string(void);

/** Creates a context: a registry of ufuncs and modules that also contains the standard library.
 * Most programs do not need one and pass NULL, which means the default context of the process. The
 * default context has no handle and is never freed.
 * Ownership  the caller receives one reference.
 * [mt] [no-block]
 * Errors     GUF_E_ARG       <= out_context is NULL, or flags is not 0
 *            GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_context_create(uint32_t flags, guf_context *out_context, guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= context is not a live context (NULL is allowed and has no effect) */
GUF_API guf_status guf_context_retain(guf_context context, guf_error *error);
GUF_API guf_status guf_context_release(guf_context context, guf_error *error);

/** Frees the objects whose last reference was released, and runs queued release callbacks on this
 * thread, without a lock held. `max_callbacks` is the maximum number of callbacks to run; 0 means
 * all. `out_ran` (NULL is allowed) receives the number of callbacks that ran.
 * [mt] [no-block] */
GUF_API guf_status guf_poll(uint32_t max_callbacks, uint32_t *out_ran, guf_error *error);

/** Removes the oldest message from the log of the process. The library itself prints nothing.
 * In/out  `text` of `capacity` bytes receives one NUL-terminated line, truncated if necessary.
 *         `out_level` receives 0 for an error, 1 for a warning, 2 for information, or -1 if the log
 *         is empty (`text` is then "").
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG <= text or out_level is NULL, or capacity is 0 */
GUF_API guf_status guf_log_read(char *text, size_t capacity, int32_t *out_level, guf_error *error);

/** Waits for all streams for at most `timeout_ns` nanoseconds, stops the library's threads, runs
 * queued callbacks and frees caches. Calling this function at exit is optional. After it, handles
 * can still be released; other calls that need a device return GUF_E_SHUTDOWN. If a driver refuses
 * to free a resource, the log reports it.
 * [mt], blocks
 * Errors  GUF_TIMEOUT <= work was still running after `timeout_ns`; the library remains usable */
GUF_API guf_status guf_shutdown(uint64_t timeout_ns, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_CONTEXT_H */
