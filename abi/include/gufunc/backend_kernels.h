/* SPDX-License-Identifier: Apache-2.0
 * The extension "gufunc.kernels" of backends that run raw kernels. The host requests it with the
 * slot `extension`. The table is constant and valid for the life of the process. The slot
 * `kernel_get` returns a raw kernel for guf_module_kernel.kernel and .symbol.
 *
 * The rules of backend.h apply: fallible functions return a guf_status and take a non-NULL
 * guf_error last; any thread may call them. Every function may return GUF_E_FORKED and
 * GUF_E_DEVICE_LOST. */
#ifndef GUFUNC_BACKEND_KERNELS_H
#define GUFUNC_BACKEND_KERNELS_H

#include "backend.h"

GUF_BEGIN_DECLS

enum guf_kernels_extension { GUF_KERNELS_EXTENSION_VERSION = 1 };

/** One launch. The host has checked the arguments and the limits of gufunc/kernels.h; no extent of
 * the grid is 0. All pointers are borrowed for the call. */
typedef struct guf_backend_kernel_launch {
  uint32_t struct_size;
  uint32_t flags; /* guf_module_kernel_flag */
  void *kernel;
  void *stream;
  const char *name; /* name of the kernel, for messages; never freed */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;   /* total per block */
  uint32_t argument_bytes; /* size of a guf_kernel_head and the arguments */
  const void *arguments;   /* aligned to 8 bytes */
} guf_backend_kernel_launch;

typedef struct guf_backend_kernel_limits {
  uint32_t struct_size;
  uint32_t max_threads;      /* threads per block; 0: unknown */
  uint32_t max_shared_bytes; /* maximum that a launch may request per block */
  uint32_t registers;        /* per thread; 0: unknown */
  uint32_t local_bytes;      /* local memory per thread, such as spilled registers */
  uint32_t subgroup_size;    /* threads that the hardware runs together */
} guf_backend_kernel_limits;

typedef struct guf_kernels_api {
  uint32_t struct_size;
  uint32_t version; /* GUF_KERNELS_EXTENSION_VERSION of the plugin */

  /* The host passes `out_limits` zeroed, with its struct_size set. */
  guf_status (*kernel_limits)(void *device, void *kernel, guf_backend_kernel_limits *out_limits,
                              guf_error *error);
  /* Launches a kernel. With a NULL stream the work is complete on return if the device has host
   * memory.
   * Errors  GUF_E_LAUNCH      <= some threads of a block wait at a barrier that others do not reach
   *         GUF_E_UNSUPPORTED <= an unknown flag, or more shared memory than the device has */
  guf_status (*kernel_launch)(void *device, const guf_backend_kernel_launch *launch,
                              guf_error *error);
} guf_kernels_api;

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_KERNELS_H */
