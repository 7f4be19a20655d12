/* SPDX-License-Identifier: Apache-2.0
 * Backends and devices: reports which of them this machine can use, and why other ones are not
 * usable. */
#ifndef GUFUNC_DEVICE_H
#define GUFUNC_DEVICE_H

#include "context.h"

GUF_BEGIN_DECLS

/** A device. Devices are immortal: retain and release have no effect. Equal handles are equal
 * devices. "auto" has its own handle, see guf_device_get. */
typedef struct guf_device_s *guf_device;

typedef struct guf_backend_info {
  uint32_t struct_size;
  guf_status state;    /* GUF_OK, or the error that makes the backend unusable (a 9xx, GUF_E_IO or
                          GUF_E_BAD_FILE) */
  int32_t native_code; /* the vendor's error code for `state`, or 0 */
  int32_t ndevices;    /* -1: the backend was not probed yet */
  uint32_t abi_minor;  /* backend ABI minor version of the plugin */
  uint32_t priority;   /* "auto" prefers higher values */
  char name[32];
  char version[32];
  char driver[64];  /* driver version, such as "CUDA 13.0"; "" before the first probe */
  char path[512];   /* path of the plugin; "" for the built-in backend */
  char reason[488]; /* one sentence when state is not GUF_OK */
} guf_backend_info;

typedef struct guf_device_info {
  uint32_t struct_size;
  int32_t index;        /* index among the backend's devices */
  uint32_t units;       /* compute units; threads for cpu */
  uint32_t host_memory; /* 1: the host can access the device's memory */
  uint64_t memory_bytes;
  char backend[32];
  char name[128];
  char target[64]; /* target by which images are chosen: "x86-64-v4", "sm_90" */
  char spec[64];   /* "cpu", "cuda:0" */
} guf_device_info;

/** Returns the number of backends that were found. Reads only the notes of plugin files; no driver
 * is called and no plugin code runs.
 * [mt], reads the disk at the first call
 * Errors  GUF_E_ARG       <= out_count is NULL
 *         GUF_E_NO_MEMORY <= a host allocation failed
 *         GUF_E_IO        <= the process has too many open files; a later call tries again */
GUF_API guf_status guf_backend_count(uint32_t *out_count, guf_error *error);

/** Describes backend `index`. If `probe` is not 0, the backend and its driver are opened first, and
 * `state`, `ndevices` and `driver` are final. A backend that is not usable is not an error: `state`
 * and `reason` describe why.
 * [mt]
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_INDEX  <= index is not below the number of backends (guf_backend_count)
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version
 *         GUF_E_NO_MEMORY, GUF_E_IO <= the backend was not probed, because a host allocation failed
 *                                      or the process has too many open files; a later call tries
 *                                      again */
GUF_API guf_status guf_backend_get_info(uint32_t index, int32_t probe, guf_backend_info *out_info,
                                        guf_error *error);

/** Adds a plugin by its absolute path, in addition to those on the search path
 * (docs/environment.md).
 * [mt]
 * Errors  GUF_E_ARG       <= path is NULL or not absolute
 *         GUF_E_IO        <= the file cannot be opened, or is not a regular file
 *         GUF_E_UNTRUSTED <= the process is privileged and the file's owner or mode is not
 *                            acceptable
 *         GUF_E_BAD_FILE  <= the file is not an ELF file, or has no backend note
 *         GUF_E_ABI       <= the note requires a different ABI or ISA, or the plugin's table
 *                            violates the contract
 *         GUF_E_EXISTS    <= a backend of that name is already loaded */
GUF_API guf_status guf_backend_load(const char *path, guf_error *error);

/** Returns a device by its spec: "cpu", "cuda:0", "roc:1", "<backend>" (index 0), or "auto". A
 * named backend never falls back to another one.
 * "auto" is decided once per context. It selects device 0 of the first usable backend in the list
 * of the environment variable GUFUNC_BACKENDS; if the variable is not set, of the first usable
 * backend by descending priority (cuda, roc, cpu). The handle of "auto" can be passed wherever a
 * device is expected and means the chosen device, with one exception: calls and methods with a NULL
 * stream whose operands are all in host memory run on the cpu, unless their shapes and dtypes show
 * that the work outweighs the copies (docs/devices.md). guf_explain reports the decision.
 * guf_device_get_info describes the chosen device. The handle of "auto" can be recognized because
 * it differs from the handle that guf_device_get returns for info.spec. Arrays and streams that are
 * created with the handle of "auto" report the chosen device.
 * [mt]
 * Errors  GUF_E_ARG        <= spec or out_device is NULL, or spec is malformed
 *         GUF_E_HANDLE     <= context is not a live context
 *         GUF_E_NO_BACKEND <= no plugin of that name; the message lists those found
 *         GUF_E_NO_DEVICE  <= the index is not below the backend's device count
 *         GUF_E_NO_IMAGE   <= the backend's kernels include none for this kind of device
 *         any 9xx          <= the backend is not usable; the message states why
 *         GUF_E_NO_MEMORY, GUF_E_IO <= a host allocation failed, or the process has too many open
 *                                      files; a later call tries again */
GUF_API guf_status guf_device_get(guf_context context, const char *spec, guf_device *out_device,
                                  guf_error *error);

/** Opens a device over the program's own context, a CUcontext, instead of the driver's primary
 * context. This is for programs that create a context with cuCtxCreate. Call it before anything
 * else opens the device. From then on the spec means the device over that context in every call of
 * this process. Another call with the same `native` returns the same device.
 * Ownership  the program keeps the context. The context must stay alive while any object of the
 *            device is used, and during guf_shutdown. Once the context is destroyed, calls on the
 *            device fail with GUF_E_HANDLE or GUF_E_DEVICE_LOST. No function of the library changes
 *            the current context of the calling thread.
 * [mt]
 * Errors     GUF_E_ARG         <= spec or out_device is NULL, native is 0, or spec is "auto" or
 *                                 malformed
 *            GUF_E_NO_BACKEND  <= no plugin of that name; the message lists those found
 *            GUF_E_NO_DEVICE   <= the index is not below the backend's device count
 *            GUF_E_EXISTS      <= the device is already open, over another context
 *            GUF_E_HANDLE      <= native is not a live context, or a context of another device; the
 *                                 device is not opened
 *            GUF_E_UNSUPPORTED <= the backend has no contexts (cpu; roc, because HIP has none)
 *            GUF_E_NO_IMAGE    <= as guf_device_get
 *            GUF_E_SHUTDOWN    <= after guf_shutdown
 *            GUF_E_NO_MEMORY   <= a host allocation failed
 *            any 9xx           <= the backend is not usable; the message states why */
GUF_API guf_status guf_device_adopt(const char *spec, uint64_t native, guf_device *out_device,
                                    guf_error *error);

/** Describes a device.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_HANDLE <= device is not a live device
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version */
GUF_API guf_status guf_device_get_info(guf_device device, guf_device_info *out_info,
                                       guf_error *error);

/** Waits for the work that was queued on the default stream of `device` (by calls with a NULL
 * stream), for at most `timeout_ns` nanoseconds (UINT64_MAX: no limit). Returns GUF_OK, or the
 * first failure of that work since the last report. On the cpu a call with a NULL stream is
 * complete on return. GUF_TIMEOUT means that the work is still running; no failure is reported or
 * lost.
 * [mt], blocks
 * Errors  GUF_E_HANDLE <= device is not a live device
 *         GUF_E_FORKED <= the device belongs to the parent process
 *         any status   <= the failure of the work */
GUF_API guf_status guf_device_synchronize(guf_device device, uint64_t timeout_ns, guf_error *error);

/** These functions have no effect. They exist for symmetry with reference-counted handles.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= device is not a live device (NULL is allowed) */
GUF_API guf_status guf_device_retain(guf_device device, guf_error *error);
GUF_API guf_status guf_device_release(guf_device device, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DEVICE_H */
