/* SPDX-License-Identifier: Apache-2.0
 * Arrays: reference-counted n-dimensional views of host or device memory. Tensors and operands: the
 * arguments of calls. */
#ifndef GUFUNC_ARRAY_H
#define GUFUNC_ARRAY_H

#include "dtype.h"
#include "limits.h"
#include "stream.h"

GUF_BEGIN_DECLS

typedef struct guf_array_s *guf_array;

/* In all functions, shapes count elements, and strides are signed byte distances. An array has at
 * most GUF_MAX_NDIM dimensions. */

enum guf_order {
  GUF_ORDER_KEEP = 0, /* the layout of the source ('K') */
  GUF_ORDER_C = 1,    /* the last axis varies fastest */
  GUF_ORDER_F = 2,    /* the first axis varies fastest */
  GUF_ORDER_ANY = 3   /* F if the source is F-contiguous but not C-contiguous, else C ('A') */
};

enum guf_tensor_flag {
  GUF_TENSOR_READ_ONLY = 1u << 0, /* must not be used as an output */
  GUF_TENSOR_SWAPPED = 1u << 1    /* elements are in the non-native byte order */
};

/** Borrowed description of memory that the caller owns. The memory must stay valid until the call
 * is complete. If the call is queued on a stream, the memory must stay valid until the stream has
 * finished the work of the call. The address may be unaligned and strides may have any value. */
typedef struct guf_tensor {
  uint32_t struct_size;
  guf_dtype dtype;
  int32_t ndim;
  uint32_t flags;         /* guf_tensor_flag */
  uint64_t address;       /* address of element (0, ..., 0) */
  const int64_t *shape;   /* ndim extents; NULL when ndim is 0 */
  const int64_t *strides; /* ndim strides; NULL means C-contiguous */
  guf_device device;      /* NULL means host memory */
} guf_tensor;

enum guf_operand_kind {
  GUF_OPERAND_NONE = 0,          /* an output to allocate, or no mask */
  GUF_OPERAND_ARRAY = 1,         /* `array` */
  GUF_OPERAND_TENSOR = 2,        /* `*tensor`, borrowed for the call */
  GUF_OPERAND_SCALAR = 3,        /* `value` holds one element of `dtype` */
  GUF_OPERAND_WEAK_INT = 4,      /* a Python int: value[0] as int64_t */
  GUF_OPERAND_WEAK_INT_HUGE = 5, /* a Python int outside int64: value[0] is the magnitude, or
                                    UINT64_MAX if the magnitude exceeds uint64; bit 0 of value[1] is
                                    set if the int is negative, bit 1 if the magnitude exceeds
                                    uint64 */
  GUF_OPERAND_WEAK_FLOAT = 6,    /* a Python float: value[0] holds the bits of a double */
  GUF_OPERAND_WEAK_COMPLEX = 7   /* a Python complex: value[0] and value[1] hold the bits of two
                                    doubles */
};

/** One operand of a call. The layout is frozen. A weak scalar adopts the dtype of the other
 * operands (NEP 50). */
typedef struct guf_operand {
  int32_t kind;    /* guf_operand_kind */
  guf_dtype dtype; /* dtype of a SCALAR; ignored for other kinds */
  uint32_t flags;  /* 0 */
  uint32_t reserved;
  guf_array array;
  const guf_tensor *tensor;
  uint64_t value[2];
} guf_operand;

enum guf_array_flag {
  GUF_ARRAY_READ_ONLY = 1u << 0,
  GUF_ARRAY_C_CONTIGUOUS = 1u << 1,
  GUF_ARRAY_F_CONTIGUOUS = 1u << 2,
  GUF_ARRAY_ALIGNED = 1u << 3,
  GUF_ARRAY_SWAPPED = 1u << 4,
  GUF_ARRAY_OWNS_DATA = 1u << 5 /* not a view */
};

/** Description of an array. Only the first ndim elements of `shape` and `strides` are set. */
typedef struct guf_array_info {
  uint32_t struct_size;
  guf_dtype dtype;
  int32_t ndim;
  uint32_t flags; /* guf_array_flag */
  uint64_t address;
  uint64_t size;     /* elements */
  uint64_t nbytes;   /* size * itemsize */
  guf_device device; /* NULL: wrapped host memory without a device */
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
} guf_array_info;

/** Releases memory that guf_array_wrap wrapped. The library calls this function exactly once, when
 * nothing uses the memory any more. With the flag GUF_RELEASE_ANY_THREAD the function may run on
 * any thread. Without this flag it runs only on a thread of the program, inside a call, a wait,
 * guf_poll or guf_shutdown. The library holds no lock while the function runs. */
typedef void (*guf_release_fn)(void *user, uint64_t address);
enum guf_release_flag { GUF_RELEASE_ANY_THREAD = 1u << 0 };

/** Allocates an array with unspecified values. `device` NULL means cpu. With `strides` NULL the
 * layout is `order` (C or F; KEEP and ANY mean C). If `strides` (in bytes) is given, `order` must
 * be C. Strides may be negative or leave gaps; memory is allocated for the whole range of addresses
 * that they span.
 * Ownership  the caller receives one reference. The memory is freed when the last array or view of
 *            it is released.
 * [mt]
 * Errors     GUF_E_ARG           <= out_array is NULL; shape is NULL and ndim > 0; order is not a
 *                                   guf_order
 *            GUF_E_DTYPE         <= dtype is not a dtype
 *            GUF_E_SHAPE         <= ndim is outside 0..GUF_MAX_NDIM, an extent is negative, the
 *                                   size overflows, or the strides make elements overlap
 *            GUF_E_HANDLE        <= device is not a live device
 *            GUF_E_NO_MEMORY     <= a host allocation failed
 *            GUF_E_DEVICE_MEMORY <= a device allocation failed
 *            GUF_E_SHUTDOWN      <= after guf_shutdown */
GUF_API guf_status guf_array_alloc(guf_device device, guf_dtype dtype, int32_t ndim,
                                   const int64_t *shape, const int64_t *strides, int32_t order,
                                   guf_array *out_array, guf_error *error);

/** Wraps memory that the caller owns, without a copy. `release` (NULL is allowed) runs exactly once
 * with (user, tensor->address), after the last array or view of the memory is released and, for
 * device memory, after the work queued on the device's default stream is complete. `release` does
 * not run if this function fails. In a forked child it does not run for device memory of the parent
 * process.
 * Ownership  the caller receives one reference; the memory must stay valid until `release` runs.
 *            `tensor`, its shape and its strides are copied.
 * [mt] [no-block]
 * Errors     GUF_E_ARG       <= tensor, its shape or out_array is NULL; flags has unknown bits; the
 *                               address is 0 and there are elements
 *            GUF_E_STRUCT    <= tensor->struct_size is not valid
 *            GUF_E_DTYPE     <= tensor->dtype is not a dtype
 *            GUF_E_HANDLE    <= tensor->device is not a live device
 *            GUF_E_SHAPE     <= as guf_array_alloc, or the address range wraps around
 *            GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_array_wrap(const guf_tensor *tensor, guf_release_fn release, void *user,
                                  uint32_t flags, guf_array *out_array, guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= array is not a live array (NULL is allowed and has no effect) */
GUF_API guf_status guf_array_retain(guf_array array, guf_error *error);
GUF_API guf_status guf_array_release(guf_array array, guf_error *error);

/** Describes an array.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_HANDLE <= array is not a live array
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version */
GUF_API guf_status guf_array_get_info(guf_array array, guf_array_info *out_info, guf_error *error);

/* Views. A view shares the memory of its array without a copy, and keeps this memory alive. Each
 * function below returns one reference for the caller in `out_array`.
 * Errors of all views:
 *   GUF_E_ARG <= a required pointer is NULL, or naxes is negative;
 *   GUF_E_HANDLE <= array is not a live array;
 *   GUF_E_NO_MEMORY <= a host allocation failed */

/** Returns NumPy's a[start:stop:step, ...]. Each of the first `naxes` axes has one start, stop and
 * step; later axes are kept whole. Python's rules apply: negative bounds count from the end, and
 * bounds are clipped. INT64_MIN as start or stop means that the bound is omitted.
 * [mt] [no-block]
 * Errors  GUF_E_INDEX <= naxes > ndim
 *         GUF_E_VALUE <= a step is 0 */
GUF_API guf_status guf_array_slice(guf_array array, int32_t naxes, const int64_t *starts,
                                   const int64_t *stops, const int64_t *steps, guf_array *out_array,
                                   guf_error *error);

/** Returns a view with a different shape, like NumPy's reshape. The elements are read from the
 * array, and placed in the view, in `order` (C, F or ANY). One extent may be -1: it is computed
 * from the size of the array. The result is never a copy.
 * [mt] [no-block]
 * Errors  GUF_E_SHAPE       <= the sizes differ, more than one extent is -1, or ndim is out of
 *                              range
 *         GUF_E_ARG         <= order is not C, F or ANY
 *         GUF_E_UNSUPPORTED <= a view is not possible, and NumPy would copy; use guf_array_copy
 *                              first */
GUF_API guf_status guf_array_reshape(guf_array array, int32_t ndim, const int64_t *shape,
                                     int32_t order, guf_array *out_array, guf_error *error);

/** Returns a one-dimensional view of the array's elements in `order`.
 * [mt] [no-block]
 * Errors  as guf_array_reshape */
GUF_API guf_status guf_array_ravel(guf_array array, int32_t order, guf_array *out_array,
                                   guf_error *error);

/** Permutes the axes: axis i of the result is axis axes[i] of the array. If `axes` is NULL, naxes
 * is ignored and the order of the axes is reversed.
 * [mt] [no-block]
 * Errors  GUF_E_VALUE <= naxes is not ndim
 *         GUF_E_AXIS  <= an axis is out of range or repeated */
GUF_API guf_status guf_array_transpose(guf_array array, int32_t naxes, const int64_t *axes,
                                       guf_array *out_array, guf_error *error);

/** Broadcasts to a shape: axes of extent 1 are repeated with stride 0. The result is read-only.
 * [mt] [no-block]
 * Errors  GUF_E_SHAPE <= the array does not broadcast to the shape */
GUF_API guf_status guf_array_broadcast_to(guf_array array, int32_t ndim, const int64_t *shape,
                                          guf_array *out_array, guf_error *error);

/** Removes the given axes, which must have extent 1. If `axes` is NULL, naxes is ignored and all
 * axes of extent 1 are removed.
 * [mt] [no-block]
 * Errors  GUF_E_AXIS  <= an axis is out of range or repeated
 *         GUF_E_SHAPE <= the extent of a given axis is not 1 */
GUF_API guf_status guf_array_squeeze(guf_array array, int32_t naxes, const int64_t *axes,
                                     guf_array *out_array, guf_error *error);

/** Inserts axes of extent 1. `axes` are their positions in the result.
 * [mt] [no-block]
 * Errors  GUF_E_AXIS  <= an axis is out of range or repeated
 *         GUF_E_SHAPE <= the result has more than GUF_MAX_NDIM dimensions */
GUF_API guf_status guf_array_expand_dims(guf_array array, int32_t naxes, const int64_t *axes,
                                         guf_array *out_array, guf_error *error);

/** Returns NumPy's sliding_window_view over the given axes. Each of these axes shrinks to extent -
 * window + 1, and for each of them an axis of extent `window` is appended at the end, in the order
 * of `axes`. The result is read-only.
 * [mt] [no-block]
 * Errors  GUF_E_AXIS  <= an axis is out of range
 *         GUF_E_SHAPE <= a window is below 1 or exceeds its axis, or the result has more than
 *                        GUF_MAX_NDIM dimensions */
GUF_API guf_status guf_array_sliding_window(guf_array array, int32_t naxes, const int64_t *axes,
                                            const int64_t *windows, guf_array *out_array,
                                            guf_error *error);

/** Sets every element to a scalar operand, which is converted to the array's dtype as by guf::cast.
 * As in calls, a weak int must fit the dtype. With a NULL stream, host memory is written before the
 * function returns.
 * [mt-object]
 * Errors  GUF_E_ARG             <= value is NULL or not a scalar
 *         GUF_E_HANDLE          <= array or stream is not a live handle of its kind
 *         GUF_E_READ_ONLY       <= the array is read-only
 *         GUF_E_DTYPE           <= the dtype of value is not a dtype, or is a structured dtype
 *         GUF_E_CASTING         <= no cast from value to the array's dtype exists (structured
 *                                  dtypes)
 *         GUF_E_OVERFLOW        <= a weak int does not fit the dtype
 *         GUF_E_DEVICE_MISMATCH <= the stream belongs to another device
 *         GUF_E_NO_MEMORY       <= a host allocation failed
 *         GUF_E_SHUTDOWN        <= after guf_shutdown
 *         GUF_E_FORKED          <= the stream was created before a fork */
GUF_API guf_status guf_array_fill(guf_array array, const guf_operand *value, guf_stream stream,
                                  guf_error *error);

/** Copies an array into a new array of the same dtype and device, with layout `order`.
 * Ownership  the caller receives one reference.
 * [mt]
 * Errors     GUF_E_ARG             <= out_array is NULL, or order is not a guf_order
 *            GUF_E_HANDLE          <= array or stream is not a live handle of its kind
 *            GUF_E_DEVICE_MISMATCH <= the stream belongs to another device
 *            GUF_E_CAPTURE         <= the stream is being captured
 *            GUF_E_NO_MEMORY       <= a host allocation failed
 *            GUF_E_DEVICE_MEMORY   <= a device allocation failed
 *            GUF_E_SHUTDOWN        <= after guf_shutdown
 *            GUF_E_FORKED          <= the stream was created before a fork */
GUF_API guf_status guf_array_copy(guf_array array, int32_t order, guf_stream stream,
                                  guf_array *out_array, guf_error *error);

/** Copies `source` into `destination`, with broadcasting and casts. If their memory overlaps, the
 * result is as if `source` were copied first.
 * [mt-object]
 * Errors  GUF_E_ARG             <= casting is not a guf_casting
 *         GUF_E_CASTING         <= `casting` forbids the cast
 *         GUF_E_SHAPE           <= source does not broadcast to the shape of destination
 *         GUF_E_READ_ONLY       <= destination is read-only
 *         GUF_E_OVERLAP         <= elements of destination overlap each other
 *         GUF_E_HANDLE          <= an array or the stream is not a live handle of its kind
 *         GUF_E_DEVICE_MISMATCH <= the stream belongs to neither array's device
 *         GUF_E_SHUTDOWN        <= after guf_shutdown
 *         GUF_E_FORKED          <= the stream was created before a fork */
GUF_API guf_status guf_array_assign(guf_array destination, guf_array source, int32_t casting,
                                    guf_stream stream, guf_error *error);

/** Copies an array into a new array of another dtype, with layout `order`. A datetime dtype without
 * a unit keeps the unit of the array.
 * Ownership  the caller receives one reference.
 * [mt]
 * Errors     as guf_array_copy, and
 *            GUF_E_ARG     <= casting is not a guf_casting
 *            GUF_E_DTYPE   <= dtype is not a dtype
 *            GUF_E_CASTING <= `casting` forbids the cast */
GUF_API guf_status guf_array_astype(guf_array array, guf_dtype dtype, int32_t casting,
                                    int32_t order, guf_stream stream, guf_array *out_array,
                                    guf_error *error);

/** Copies an array to `device`: into a new array if *inout_array is NULL, else into the array
 * *inout_array, which must have the same dtype and shape. With a NULL stream the copy is complete
 * on return if the source or the destination is in host memory.
 * A copy between two GPUs is queued. If both GPUs are devices of one backend, its driver copies
 * directly from one to the other. The stream may belong to either GPU. On the other GPU, the copy
 * runs after the work that was queued on the default stream before this call, and work that is
 * queued on the default stream later runs after the copy. With a NULL stream, this is true on both
 * GPUs.
 * Ownership  a new array is returned with one reference for the caller.
 * [mt-object]
 * Errors     GUF_E_ARG             <= inout_array is NULL
 *            GUF_E_HANDLE          <= an array, the device or the stream is not a live handle of
 *                                     its kind
 *            GUF_E_DTYPE           <= *inout_array has a different dtype
 *            GUF_E_SHAPE           <= *inout_array has a different shape
 *            GUF_E_DEVICE_MISMATCH <= *inout_array is on another device, or the stream belongs to
 *                                     neither device
 *            GUF_E_READ_ONLY       <= *inout_array is read-only
 *            GUF_E_OVERLAP         <= elements of *inout_array overlap each other
 *            GUF_E_CAPTURE         <= the stream is being captured and a new array is needed
 *            GUF_E_NO_MEMORY       <= a host allocation failed
 *            GUF_E_DEVICE_MEMORY   <= a device allocation failed
 *            GUF_E_SHUTDOWN        <= after guf_shutdown
 *            GUF_E_FORKED          <= the stream was created before a fork */
GUF_API guf_status guf_array_to_device(guf_array array, guf_device device, guf_stream stream,
                                       guf_array *inout_array, guf_error *error);

/** Waits for all work on the array's memory that the library has queued on any stream, default
 * streams included, for at most `timeout_ns` nanoseconds (UINT64_MAX: no limit). Afterwards the
 * host may read and write the memory, if the host can access it. GUF_TIMEOUT means that the work is
 * still running. The function may return before work that received only addresses is complete,
 * because the library does not know which memory such work uses: launches of plans on GPUs,
 * launches of graphs by the vendor's functions, and calls on tensors. The function always waits for
 * guf_graph_launch and for launches of plans on the cpu. It does not report a failure of the work;
 * synchronizing the stream or the device of the work does.
 * guf_array_copy_to_host, guf_array_print, and guf_array_to_device to the cpu wait in the same way
 * if their stream is NULL.
 * [mt], blocks
 * Errors  GUF_E_HANDLE    <= array is not a live array
 *         GUF_E_CAPTURE   <= the array has pending work on a GPU that has a stream in capture
 *         GUF_E_NO_MEMORY <= a host allocation failed
 *         GUF_E_SHUTDOWN  <= after guf_shutdown */
GUF_API guf_status guf_array_synchronize(guf_array array, uint64_t timeout_ns, guf_error *error);

/** Copies the array into host memory of the caller in C or F order. `nbytes` is the size of that
 * memory in bytes and must be at least the array's. With a NULL stream the copy runs after all
 * other work on the array and is complete on return. With a stream, the memory must stay valid
 * until the copy is complete.
 * [mt-object]
 * Errors  GUF_E_ARG             <= destination is NULL and there are bytes to copy, or order is not
 *                                  C or F
 *         GUF_E_HANDLE          <= array or stream is not a live handle of its kind
 *         GUF_E_BUFFER_TOO_SMALL <= nbytes is less than the array's size
 *         GUF_E_DEVICE_MISMATCH <= the stream belongs to another device
 *         GUF_E_SHUTDOWN        <= after guf_shutdown
 *         GUF_E_FORKED          <= the stream was created before a fork */
GUF_API guf_status guf_array_copy_to_host(guf_array array, void *destination, uint64_t nbytes,
                                          int32_t order, guf_stream stream, guf_error *error);

/** Writes the values as NumPy prints them, then shape, dtype and device:
 *   [1. 2.]
 *   shape (2,), float64, cpu
 * Long arrays are shortened with "..." as in NumPy.
 * In/out  *inout_length: on entry the capacity of `text` in bytes, on return the required length
 *         including the NUL.
 * [mt]
 * Errors  GUF_E_ARG    <= inout_length is NULL, or text is NULL and the capacity is not 0
 *         GUF_E_HANDLE <= array is not a live array
 *         GUF_E_BUFFER_TOO_SMALL <= the text does not fit; `text` is unchanged */
GUF_API guf_status guf_array_print(guf_array array, char *text, uint64_t *inout_length,
                                   guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_ARRAY_H */
