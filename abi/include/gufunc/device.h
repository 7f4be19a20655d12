/* SPDX-License-Identifier: Apache-2.0
 * Backends and devices: what this machine can run on, and why not on the rest. */
#ifndef GUFUNC_DEVICE_H
#define GUFUNC_DEVICE_H

#include "context.h"

GUF_BEGIN_DECLS

/** A device. Immortal: retain and release do nothing; equal handles are equal devices. The handle
 * of "auto" is one of its own, see guf_device_get. */
typedef struct guf_device_s *guf_device;

typedef struct guf_backend_info {
  uint32_t struct_size;
  guf_status
      state; /* GUF_OK, or why the backend is not usable (a 9xx, GUF_E_IO or GUF_E_BAD_FILE) */
  int32_t native_code; /* the vendor's own code behind `state`, or 0 */
  int32_t ndevices;    /* -1: not probed yet */
  uint32_t abi_minor;  /* of the plugin */
  uint32_t priority;   /* higher is preferred by "auto" */
  char name[32];
  char version[32];
  char driver[64];  /* its version, "CUDA 13.0", once probed */
  char path[512];   /* "" for the backend inside the library */
  char reason[488]; /* one sentence when state is not GUF_OK */
} guf_backend_info;

typedef struct guf_device_info {
  uint32_t struct_size;
  int32_t index;        /* among the backend's devices */
  uint32_t units;       /* compute units; threads for cpu */
  uint32_t host_memory; /* 1: the host may touch the device's memory */
  uint64_t memory_bytes;
  char backend[32];
  char name[128];
  char target[64]; /* what images are chosen by: "x86-64-v4", "sm_90" */
  char spec[64];   /* "cpu", "cuda:0" */
} guf_device_info;

/** How many backends were found. Reads files' notes only: no driver is called, no plugin's code
 * runs.
 * Errors  GUF_E_ARG <= out_count is NULL;  GUF_E_NO_MEMORY
 * [mt], reads the disk at the first call */
GUF_API guf_status guf_backend_count(uint32_t *out_count, guf_error *error);

/** Describes backend `index`. `probe` not 0: opens it and its driver first, so that `state`,
 * `ndevices` and `driver` are final; a backend that cannot be used is described, not reported as an
 * error.
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_INDEX  <= index is not below guf_backend_count
 *         GUF_E_STRUCT <= out_info->struct_size is below the first version's size
 * [mt] */
GUF_API guf_status guf_backend_get_info(uint32_t index, int32_t probe, guf_backend_info *out_info,
                                        guf_error *error);

/** Adds a plugin by absolute path, beside the search path (docs/environment.md).
 * Errors  GUF_E_ARG       <= path is NULL or not absolute
 *         GUF_E_IO        <= the file cannot be opened, or is no regular file
 *         GUF_E_UNTRUSTED <= the process is privileged and the file's owner or mode is not
 *                            acceptable
 *         GUF_E_BAD_FILE  <= no ELF file, or no backend note in it
 *         GUF_E_ABI       <= the note's ABI range or ISA does not fit, or the plugin's table breaks
 *                         the contract
 *         GUF_E_EXISTS    <= a backend of that name is loaded already
 * [mt] */
GUF_API guf_status guf_backend_load(const char *path, guf_error *error);

/** Finds a device by its spec: "cpu", "cuda:0", "roc:1", "<backend>" (index 0), or
 * "auto". "auto" is decided once per context: the first usable backend of GUFUNC_BACKENDS, else of
 * all by falling priority (cuda, roc, cpu), index 0. A named backend never falls back to another.
 * The handle of "auto" may be given wherever a device is wanted, and is the chosen device there,
 * but for calls and methods: those without a stream whose operands all lie in host memory run on
 * the cpu, unless by their shapes and dtypes the work outweighs the copies (docs/devices.md).
 * guf_explain tells. guf_device_get_info describes the chosen device: a handle that differs from
 * guf_device_get(context, info.spec)'s is that of "auto". What is made with it (arrays, streams)
 * names the chosen device.
 * Errors  GUF_E_ARG        <= spec or out_device is NULL, or spec is malformed
 *         GUF_E_HANDLE     <= context
 *         GUF_E_NO_BACKEND <= no plugin of that name; the message lists those found
 *         GUF_E_NO_DEVICE  <= the index is not below the backend's device count
 *         GUF_E_NO_IMAGE   <= the backend's kernels are built for none that is like this device
 *         any 9xx          <= the backend's state; the message tells why
 * [mt] */
GUF_API guf_status guf_device_get(guf_context context, const char *spec, guf_device *out_device,
                                  guf_error *error);

/** Opens a device over a context of the program's own, a CUcontext, instead of the driver's primary
 * one: for programs that made theirs with cuCtxCreate. To be called before anything else opens the
 * device; from then on the spec, in every call of this process, means the device over that context.
 * The same native again gives the same device.
 * Ownership  the context stays the program's, and must live as long as anything of the device is
 *            used, guf_shutdown included; once it is destroyed calls on the device fail with
 *            GUF_E_HANDLE or GUF_E_DEVICE_LOST. No call changes what is current on its thread.
 * Errors  GUF_E_ARG         <= spec or out_device is NULL, native is 0, or spec is "auto" or
 *                              malformed
 *         GUF_E_NO_BACKEND  <= no plugin of that name; the message lists those found
 *         GUF_E_NO_DEVICE   <= the index is not below the backend's device count
 *         GUF_E_EXISTS      <= the device is open already, over another context
 *         GUF_E_HANDLE      <= native is no living context, or one of another device; nothing is
 *                              open then
 *         GUF_E_UNSUPPORTED <= the backend has no contexts (cpu; roc: HIP has none)
 *         GUF_E_NO_IMAGE    <= as guf_device_get
 *         GUF_E_SHUTDOWN;  GUF_E_NO_MEMORY;  any 9xx <= the backend's state; the message tells why
 * [mt] */
GUF_API guf_status guf_device_adopt(const char *spec, uint64_t native, guf_device *out_device,
                                    guf_error *error);

/** Errors  GUF_E_ARG <= out_info is NULL;  GUF_E_HANDLE <= device;  GUF_E_STRUCT <= struct_size
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_device_get_info(guf_device device, guf_device_info *out_info,
                                       guf_error *error);

/** Waits, at most `timeout_ns` (UINT64_MAX: no limit), for the work that `device` was given without
 * a stream, then GUF_OK or its first failure since the last report. On the cpu such work is
 * complete when it returns. GUF_TIMEOUT: still running, nothing is reported or lost.
 * Errors  GUF_E_HANDLE <= device;  GUF_E_FORKED;  any status of the failed work   [mt], blocks */
GUF_API guf_status guf_device_synchronize(guf_device device, uint64_t timeout_ns, guf_error *error);

/** Do nothing, for symmetry with counted handles.   Errors  GUF_E_HANDLE <= device (NULL is
 * allowed) */
GUF_API guf_status guf_device_retain(guf_device device, guf_error *error);
GUF_API guf_status guf_device_release(guf_device device, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_DEVICE_H */
