/* SPDX-License-Identifier: Apache-2.0
 * Raw kernels of modules: functions that a program launches with a grid of blocks of its own
 * choice. How they are written: docs/kernels.md, "Raw kernels". */
#ifndef GUFUNC_KERNELS_H
#define GUFUNC_KERNELS_H

#include "ufunc.h"

GUF_BEGIN_DECLS

typedef struct guf_kernel_s *guf_kernel;

/** What every device takes, whatever its vendor: a launch that one takes, all take, but for shared
 * memory. */
enum guf_kernel_limit {
  GUF_MAX_GRID_X = 2147483647, /* blocks */
  GUF_MAX_GRID_YZ = 65535,
  GUF_MAX_BLOCK_XY = 1024, /* threads */
  GUF_MAX_BLOCK_Z = 64,
  GUF_MAX_BLOCK_THREADS = 1024 /* x * y * z; grid * block is below 2^32 in each dimension */
};

typedef struct guf_kernel_info {
  uint32_t struct_size;
  uint32_t nparameters;
  uint32_t max_threads;  /* of a block, as its source says */
  uint32_t shared_bytes; /* that every launch gives, besides its own */
  uint32_t flags;        /* guf_module_kernel_flag */
  uint32_t reserved;
  char name[128]; /* "module:kernel" */
  char doc[256];
} guf_kernel_info;

/** What a kernel can have on one device. */
typedef struct guf_kernel_device_info {
  uint32_t struct_size;
  uint32_t max_threads;      /* of a block */
  uint32_t max_shared_bytes; /* of a block, in all */
  uint32_t registers;        /* of a thread; 0: not known */
  uint32_t local_bytes;      /* of a thread's own memory beside registers; 0 also: not known */
  uint32_t subgroup_size;    /* threads that the hardware runs together; guf::lanes has 32 */
} guf_kernel_device_info;

/** Name of a module's kernel, for indices below guf_module_info.nkernels; NUL-terminated, short.
 * Errors  GUF_E_ARG <= name is NULL;  GUF_E_HANDLE;  GUF_E_INDEX
 *         GUF_E_BUFFER_TOO_SMALL <= capacity   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_module_kernel_at(guf_module module, uint32_t index, char *name,
                                        uint64_t capacity, guf_error *error);

/** Finds a raw kernel of a module by its short name. Loads no code.
 * Ownership  one reference for the caller; keeps the module.
 * Errors     GUF_E_ARG <= name or out_kernel is NULL;  GUF_E_HANDLE
 *            GUF_E_NOT_FOUND <= the module has no such kernel;  GUF_E_NO_MEMORY
 * [mt] [no-block] */
GUF_API guf_status guf_kernel_find(guf_module module, const char *name, guf_kernel *out_kernel,
                                   guf_error *error);

/** Errors  GUF_E_HANDLE <= kernel (NULL is allowed and does nothing)  [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_kernel_retain(guf_kernel kernel, guf_error *error);
GUF_API guf_status guf_kernel_release(guf_kernel kernel, guf_error *error);

/** Errors  GUF_E_ARG, GUF_E_STRUCT, GUF_E_HANDLE   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_kernel_get_info(guf_kernel kernel, guf_kernel_info *out_info,
                                       guf_error *error);

/** A parameter of the kernel, counted from 0 behind its guf::block.
 * Errors  GUF_E_ARG <= out_parameter is NULL;  GUF_E_HANDLE;  GUF_E_INDEX
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_kernel_get_parameter(guf_kernel kernel, uint32_t index,
                                            guf_module_parameter *out_parameter, guf_error *error);

/** What a launch on a device may ask for. Loads the kernel's code there.
 * `device` NULL: cpu.
 * Errors  GUF_E_ARG, GUF_E_STRUCT, GUF_E_HANDLE;  GUF_E_NO_IMAGE <= no code for the device
 *         GUF_E_UNSUPPORTED <= the device's backend runs no raw kernels;  GUF_E_FORKED
 * [mt] */
GUF_API guf_status guf_kernel_get_device_info(guf_kernel kernel, guf_device device,
                                              guf_kernel_device_info *out_info, guf_error *error);

/** Launches a kernel with `grid` blocks of `block` threads, three numbers each, x first, and
 * `shared_bytes` of shared memory per block beside what the kernel's source asks for. A grid with a
 * 0 runs nothing. It runs on the stream's device, else on that of its arrays, else on the cpu.
 *
 * args  one per parameter. A number is a GUF_OPERAND_SCALAR of exactly its dtype, or a weak scalar
 *       that fits. A pointer or view is a GUF_OPERAND_ARRAY or GUF_OPERAND_TENSOR of exactly its
 *       dtype, aligned and in the machine's byte order, where the device reads it; for a pointer
 *       C-contiguous, for a view of its number of dimensions. Nothing is copied or cast.
 *       Arrays may overlap in any way: what that means is the kernel's affair.
 * Complete on return on the cpu when `stream` is NULL; else queued. A barrier that some threads of
 * a block do not reach is GUF_E_LAUNCH on the cpu (with a stream: its failure), and a fault of the
 * program on a GPU. Arrays are kept alive by the library, tensors by the caller.
 * Errors  GUF_E_HANDLE <= kernel, stream, an array, a tensor's device
 *         GUF_E_ARG <= grid, block or args is NULL; nargs is not the kernel's; an argument of
 *                      another kind; grid or block outside guf_kernel_limit; an array that is not
 *                      aligned or, for a pointer, not C-contiguous
 *         GUF_E_SHAPE <= dimensions of a view;  GUF_E_DTYPE, GUF_E_OVERFLOW <= an argument's value
 *         GUF_E_READ_ONLY <= an array that the kernel may write
 *         GUF_E_DEVICE_MISMATCH <= an array lies where the device cannot read it
 *         GUF_E_NO_IMAGE <= no code for the device
 *         GUF_E_UNSUPPORTED <= its backend runs no raw kernels, or has less shared memory
 *         GUF_E_LAUNCH, GUF_E_NO_MEMORY, GUF_E_SHUTDOWN, GUF_E_FORKED
 * [mt] [capture-safe, once the kernel ran or guf_kernel_get_device_info was asked]; [no-alloc] with
 * a NULL stream, once the kernel ran; blocks only on the cpu with a NULL stream. */
GUF_API guf_status guf_kernel_launch(guf_kernel kernel, guf_stream stream, const uint32_t *grid,
                                     const uint32_t *block, uint32_t shared_bytes, int32_t nargs,
                                     const guf_operand *args, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_KERNELS_H */
