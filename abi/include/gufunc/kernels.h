/* SPDX-License-Identifier: Apache-2.0
 * Raw kernels of modules: functions that a program launches on a grid of blocks of its own choice.
 * docs/kernels.md, "Raw kernels", explains how to write them. */
#ifndef GUFUNC_KERNELS_H
#define GUFUNC_KERNELS_H

#include "modules.h"

GUF_BEGIN_DECLS

typedef struct guf_kernel_s *guf_kernel;

/** Limits of a launch. They are the same on every device: a launch that one device accepts is
 * accepted by all devices that have enough shared memory. */
enum guf_kernel_limit {
  GUF_MAX_GRID_X = 2147483647, /* blocks */
  GUF_MAX_GRID_YZ = 65535,
  GUF_MAX_BLOCK_XY = 1024, /* threads */
  GUF_MAX_BLOCK_Z = 64,
  GUF_MAX_BLOCK_THREADS = 1024 /* limit of the product of x, y and z. In each dimension, grid *
                                  block must be below 2^32 */
};

typedef struct guf_kernel_info {
  uint32_t struct_size;
  uint32_t nparameters;
  uint32_t max_threads;  /* threads of a block, as declared in the source */
  uint32_t shared_bytes; /* bytes per block of every launch, in addition to the bytes that the
                            launch requests */
  uint32_t flags;        /* guf_module_kernel_flag */
  uint32_t reserved;
  char name[128]; /* "module:kernel" */
  char doc[256];
} guf_kernel_info;

/** Limits and resources of a kernel on one device. */
typedef struct guf_kernel_device_info {
  uint32_t struct_size;
  uint32_t max_threads;      /* threads of a block */
  uint32_t max_shared_bytes; /* total per block */
  uint32_t registers;        /* per thread; 0: unknown */
  uint32_t local_bytes;      /* local memory per thread, such as spilled registers; 0 also means
                                unknown */
  uint32_t subgroup_size;    /* threads that the hardware runs together; guf::lanes always has 32 */
} guf_kernel_device_info;

/** Returns the name of a module's kernel, NUL-terminated and without the module's name. `index` is
 * below guf_module_info.nkernels. `capacity` is the size of `name` in bytes.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= name is NULL
 *         GUF_E_HANDLE <= module is not a live module
 *         GUF_E_INDEX  <= index is not below the number of kernels
 *         GUF_E_BUFFER_TOO_SMALL <= capacity is less than the name with its NUL */
GUF_API guf_status guf_module_kernel_at(guf_module module, uint32_t index, char *name,
                                        uint64_t capacity, guf_error *error);

/** Finds a raw kernel of a module. `name` does not contain the module's name. Loads no code.
 * Ownership  the caller receives one reference; the kernel keeps the module loaded.
 * [mt] [no-block]
 * Errors     GUF_E_ARG       <= name or out_kernel is NULL
 *            GUF_E_HANDLE    <= module is not a live module
 *            GUF_E_NOT_FOUND <= the module has no kernel of that name
 *            GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_kernel_find(guf_module module, const char *name, guf_kernel *out_kernel,
                                   guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= kernel is not a live kernel (NULL is allowed and has no effect) */
GUF_API guf_status guf_kernel_retain(guf_kernel kernel, guf_error *error);
GUF_API guf_status guf_kernel_release(guf_kernel kernel, guf_error *error);

/** Describes a kernel.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version
 *         GUF_E_HANDLE <= kernel is not a live kernel */
GUF_API guf_status guf_kernel_get_info(guf_kernel kernel, guf_kernel_info *out_info,
                                       guf_error *error);

/** Returns parameter `index` of the kernel. Index 0 is the first parameter after the guf::block.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_parameter is NULL
 *         GUF_E_HANDLE <= kernel is not a live kernel
 *         GUF_E_INDEX  <= index is not below the number of parameters */
GUF_API guf_status guf_kernel_get_parameter(guf_kernel kernel, uint32_t index,
                                            guf_module_parameter *out_parameter, guf_error *error);

/** Returns the limits and resources of a kernel on a device. Loads the kernel's code on the device.
 * `device` NULL means cpu.
 * [mt]
 * Errors  GUF_E_ARG         <= out_info is NULL
 *         GUF_E_STRUCT      <= out_info->struct_size is smaller than in the first version
 *         GUF_E_HANDLE      <= kernel or device is not a live handle of its kind
 *         GUF_E_NO_IMAGE    <= the module has no code for the device
 *         GUF_E_UNSUPPORTED <= the device's backend does not run raw kernels
 *         GUF_E_FORKED      <= the device belongs to the parent process */
GUF_API guf_status guf_kernel_get_device_info(guf_kernel kernel, guf_device device,
                                              guf_kernel_device_info *out_info, guf_error *error);

/** Launches a kernel. `grid` is the number of blocks and `block` the number of threads per block:
 * three numbers each, x first. `shared_bytes` is shared memory per block, in addition to the amount
 * that the kernel's source declares. A grid that contains a 0 runs nothing. The kernel runs on the
 * stream's device; with a NULL stream it runs on the device of its arrays, or on the cpu if it has
 * no arrays.
 *
 * args  one operand per parameter. A number is a GUF_OPERAND_SCALAR of exactly the parameter's
 *       dtype, or a weak scalar that fits it. A pointer or view is a GUF_OPERAND_ARRAY or
 *       GUF_OPERAND_TENSOR of exactly the parameter's dtype, aligned, in native byte order, in
 *       memory that the device can access. For a pointer the array must be C-contiguous; for a view
 *       it must have the view's number of dimensions. Nothing is copied or cast. Arrays may
 *       overlap; the result is up to the kernel.
 *
 * On the cpu with a NULL stream the launch is complete on return; else the launch is queued. If
 * some threads of a block do not reach a barrier, the launch fails with GUF_E_LAUNCH on the cpu (on
 * a stream, as a failure of the stream); on a GPU the behaviour is undefined.
 * Ownership  the library keeps arrays alive until the work is complete; the caller keeps tensors
 *            alive.
 * [mt]. [capture-safe] after the first launch or guf_kernel_get_device_info on the device.
 * [no-alloc] with a NULL stream after the first launch. Blocks only on the cpu with a NULL
 * stream.
 * Errors     GUF_E_HANDLE          <= kernel, stream, an array or a tensor's device is not a live
 *                                     handle of its kind
 *            GUF_E_ARG             <= grid, block or args is NULL; nargs is not the number of
 *                                     parameters; an argument is of the wrong kind; grid or block
 *                                     is outside guf_kernel_limit; shared_bytes overflows; an array
 *                                     is not aligned or, for a pointer, not C-contiguous
 *            GUF_E_SHAPE           <= an array does not have the view's number of dimensions
 *            GUF_E_DTYPE           <= the dtype of an argument is not that of its parameter. A
 *                                     datetime parameter accepts every unit
 *            GUF_E_OVERFLOW        <= a weak scalar does not fit its parameter
 *            GUF_E_READ_ONLY       <= an array is read-only, but the kernel may write its parameter
 *            GUF_E_DEVICE_MISMATCH <= the device cannot access an array
 *            GUF_E_NO_IMAGE        <= the module has no code for the device
 *            GUF_E_UNSUPPORTED     <= the device's backend does not run raw kernels, or the device
 *                                     has less shared memory than required
 *            GUF_E_LAUNCH          <= the driver refused the launch, or it failed
 *            GUF_E_NO_MEMORY       <= a host allocation failed
 *            GUF_E_SHUTDOWN        <= after guf_shutdown
 *            GUF_E_FORKED          <= the stream or device belongs to the parent process */
GUF_API guf_status guf_kernel_launch(guf_kernel kernel, guf_stream stream, const uint32_t *grid,
                                     const uint32_t *block, uint32_t shared_bytes, int32_t nargs,
                                     const guf_operand *args, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_KERNELS_H */
