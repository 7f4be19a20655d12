/* SPDX-License-Identifier: Apache-2.0
 * The library as a whole: version, contexts, logs, shutdown. */
#ifndef GUFUNC_CONTEXT_H
#define GUFUNC_CONTEXT_H

#include "status.h"

GUF_BEGIN_DECLS

/* Handles are values, never addresses: each carries its kind and a generation, so a freed, doubly
 * freed, wrong-kind or foreign handle gives GUF_E_HANDLE. Releasing the last reference while
 * another thread is inside a call with that handle is the caller's error.
 *
 * Every kind but guf_device is counted: `_retain` adds a reference, `_release` drops one. Release
 * takes NULL, never blocks, takes no lock, calls no driver and no callback; it may come from any
 * thread, in any order, after guf_shutdown and in a forked child. The object itself is freed by a
 * later call, guf_poll or guf_shutdown. */
typedef struct guf_context_s *guf_context;

/* Tags used in all headers:
 *   [mt]            safe from any thread, the same objects included
 *   [mt-object]     safe from any thread as long as no two use the same object at once
 *   [no-block]      never waits for a device, a file or another thread's work
 *   [no-alloc]      allocates no memory
 *   [capture-safe]  may be called while the stream is captured into a graph */

enum guf_version_number { GUF_VERSION_MAJOR = 0, GUF_VERSION_MINOR = 1, GUF_VERSION_PATCH = 0 };

/** Version of the loaded library: major << 22 | minor << 12 | patch.
 * [mt] [no-block] [no-alloc] */
GUF_API uint32_t guf_version(void);

/** The same as text, "0.1.0". Static, never freed.   [mt] [no-block] [no-alloc] */
GUF_API const char *guf_version_string(void);

/** Creates a context: a registry of ufuncs and modules over the standard library. Most programs
 * need none and pass NULL, the process's default context, which has no handle and is never freed.
 * Ownership  the caller gets one reference.
 * Errors     GUF_E_ARG       <= out_context is NULL, or flags is not 0
 *            GUF_E_NO_MEMORY <= a host allocation failed
 * [mt] [no-block] */
GUF_API guf_status guf_context_create(uint32_t flags, guf_context *out_context, guf_error *error);

/** Errors  GUF_E_HANDLE <= not a live context (NULL is allowed and does nothing)
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_context_retain(guf_context context, guf_error *error);
GUF_API guf_status guf_context_release(guf_context context, guf_error *error);

/** Frees what releases left behind and runs queued release callbacks, on this thread and outside
 * all locks. `max_callbacks` 0: all. `out_ran` (NULL allowed) receives how many callbacks ran.
 * [mt] [no-block] */
GUF_API guf_status guf_poll(uint32_t max_callbacks, uint32_t *out_ran, guf_error *error);

/** Takes the oldest message from the log ring of `context`'s process. The library prints nothing
 * itself.
 * In/out  `text` of `capacity` bytes receives one NUL-terminated line, cut if need be.
 *         `out_level`: 0 error, 1 warning, 2 information; -1 when the ring is empty (text is then
 *         "").
 * Errors  GUF_E_ARG <= text or out_level is NULL, or capacity is 0
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_log_read(char *text, size_t capacity, int32_t *out_level, guf_error *error);

/** Waits for all streams, stops the library's threads, runs queued callbacks and frees caches.
 * Optional: nothing needs it at exit. Handles stay releasable; other calls that need a device give
 * GUF_E_SHUTDOWN. What a driver does not take back is told in the log.
 * Errors  GUF_TIMEOUT <= work still ran after `timeout_ns`; the library is then still usable
 * [mt], blocks */
GUF_API guf_status guf_shutdown(uint64_t timeout_ns, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_CONTEXT_H */
