/* SPDX-License-Identifier: Apache-2.0
 * The extension "gufunc.kernels" of backends that run raw kernels. Asked for with the slot
 * `extension`; constant, and valid for the life of the process. A raw kernel is what the slot
 * `kernel_get` gives for guf_module_kernel.kernel and .symbol.
 *
 * The rules of backend.h hold: fallible functions return a guf_status and take a non-NULL guf_error
 * last; any thread. Every function may answer GUF_E_FORKED and GUF_E_DEVICE_LOST. */
#ifndef GUFUNC_BACKEND_KERNELS_H
#define GUFUNC_BACKEND_KERNELS_H

#include "backend.h"

GUF_BEGIN_DECLS

enum guf_kernels_extension { GUF_KERNELS_EXTENSION_VERSION = 1 };

/** One launch. The host has checked the arguments and the limits of gufunc/kernels.h; a grid has no
 * 0. Everything is borrowed for the call. */
typedef struct guf_backend_kernel_launch {
  uint32_t struct_size;
  uint32_t flags; /* guf_module_kernel_flag */
  void *kernel;
  void *stream;
  const char *name; /* of the kernel, for messages; immortal */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;   /* of each block, in all */
  uint32_t argument_bytes; /* a guf_kernel_head, then the arguments */
  const void *arguments;   /* aligned to 8 */
} guf_backend_kernel_launch;

typedef struct guf_backend_kernel_limits {
  uint32_t struct_size;
  uint32_t max_threads;      /* of a block; 0: not known */
  uint32_t max_shared_bytes; /* that a launch may give a block */
  uint32_t registers;        /* of a thread; 0: not known */
  uint32_t local_bytes;      /* of a thread's own memory beside registers */
  uint32_t subgroup_size;    /* threads that the hardware runs together */
} guf_backend_kernel_limits;

typedef struct guf_kernels_api {
  uint32_t struct_size;
  uint32_t version; /* GUF_KERNELS_EXTENSION_VERSION of the plugin */

  /* `out_limits` is zeroed, its struct_size set. */
  guf_status (*kernel_limits)(void *device, void *kernel, guf_backend_kernel_limits *out_limits,
                              guf_error *error);
  /* NULL stream: complete on return where the device has host memory.
   * Errors  GUF_E_LAUNCH <= some threads of a block wait at a barrier that others do not reach;
   *         GUF_E_UNSUPPORTED <= an unknown flag, more shared memory than there is */
  guf_status (*kernel_launch)(void *device, const guf_backend_kernel_launch *launch,
                              guf_error *error);
} guf_kernels_api;

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_KERNELS_H */
