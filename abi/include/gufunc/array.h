/* SPDX-License-Identifier: Apache-2.0
 * Arrays: counted n-dimensional views of host or device memory; tensors and operands: what calls
 * take. */
#ifndef GUFUNC_ARRAY_H
#define GUFUNC_ARRAY_H

#include "dtype.h"
#include "limits.h"
#include "stream.h"

GUF_BEGIN_DECLS

typedef struct guf_array_s *guf_array;

/* Shapes count elements. Strides are signed bytes, everywhere. Up to GUF_MAX_NDIM dimensions. */

enum guf_order {
  GUF_ORDER_KEEP = 0, /* as the source lies ('K') */
  GUF_ORDER_C = 1,    /* last axis fastest */
  GUF_ORDER_F = 2,    /* first axis fastest */
  GUF_ORDER_ANY = 3   /* F when the source is F- and not C-contiguous ('A') */
};

enum guf_tensor_flag {
  GUF_TENSOR_READ_ONLY = 1u << 0, /* refused as an output */
  GUF_TENSOR_SWAPPED = 1u << 1    /* elements in the other byte order */
};

/** Borrowed description of memory that somebody else owns. The memory must stay valid until the
 * call is done; on a stream, until its work is. Addresses may be unaligned, strides anything. */
typedef struct guf_tensor {
  uint32_t struct_size;
  guf_dtype dtype;
  int32_t ndim;
  uint32_t flags;         /* guf_tensor_flag */
  uint64_t address;       /* of element (0, ..., 0) */
  const int64_t *shape;   /* ndim extents; NULL when ndim is 0 */
  const int64_t *strides; /* ndim strides; NULL: C-contiguous */
  guf_device device;      /* NULL: host memory */
} guf_tensor;

enum guf_operand_kind {
  GUF_OPERAND_NONE = 0,          /* an output to allocate, or no mask */
  GUF_OPERAND_ARRAY = 1,         /* `array` */
  GUF_OPERAND_TENSOR = 2,        /* `*tensor` */
  GUF_OPERAND_SCALAR = 3,        /* `value` holds one element of `dtype` */
  GUF_OPERAND_WEAK_INT = 4,      /* a Python-style int: value[0] as int64_t */
  GUF_OPERAND_WEAK_INT_HUGE = 5, /* an int beyond int64: value[0] its magnitude, value[1] the sum of
                                    1 when negative and 2 when the magnitude is beyond uint64
                                    (value[0] is then UINT64_MAX)                            */
  GUF_OPERAND_WEAK_FLOAT = 6,    /* a Python-style float: value[0] holds the bits of a double */
  GUF_OPERAND_WEAK_COMPLEX = 7   /* value[0], value[1]: bits of two doubles */
};

/** One operand of a call. Frozen. Weak scalars take the type of the other operands (NEP 50). */
typedef struct guf_operand {
  int32_t kind;    /* guf_operand_kind */
  guf_dtype dtype; /* of a SCALAR; not read otherwise */
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

/** What an array is. `shape` and `strides` have GUF_MAX_NDIM places, the first ndim are set. */
typedef struct guf_array_info {
  uint32_t struct_size;
  guf_dtype dtype;
  int32_t ndim;
  uint32_t flags; /* guf_array_flag */
  uint64_t address;
  uint64_t size;     /* elements */
  uint64_t nbytes;   /* size * itemsize */
  guf_device device; /* NULL: host memory that was wrapped without one */
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
} guf_array_info;

/** Called once when nothing uses wrapped memory any more. Without GUF_RELEASE_ANY_THREAD it runs
 * only inside a call, wait, guf_poll or guf_shutdown of the caller, outside all locks. */
typedef void (*guf_release_fn)(void *user, uint64_t address);
enum guf_release_flag { GUF_RELEASE_ANY_THREAD = 1u << 0 };

/** Allocates an array; its values are unspecified.
 * `device` NULL: cpu. `strides` NULL: laid out by `order` (C or F; KEEP and ANY mean C). With
 * strides (order must be C): they may be negative or leave gaps; memory for all elements is
 * allocated.
 * Ownership  one reference for the caller; freed with the last array or view of it.
 * Errors     GUF_E_ARG    <= out_array is NULL; shape is NULL with ndim > 0; order is no guf_order
 *            GUF_E_DTYPE  <= dtype is none
 *            GUF_E_SHAPE  <= ndim outside 0..GUF_MAX_NDIM, an extent negative, the size overflows,
 *                            or strides make elements overlap
 *            GUF_E_HANDLE <= device;  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY;  GUF_E_SHUTDOWN
 * [mt] */
GUF_API guf_status guf_array_alloc(guf_device device, guf_dtype dtype, int32_t ndim,
                                   const int64_t *shape, const int64_t *strides, int32_t order,
                                   guf_array *out_array, guf_error *error);

/** Wraps memory that the caller owns, without copying.
 * `release` (NULL allowed) runs once with (user, tensor->address) when the last array or view of it
 * is gone and, for a device's memory, what the device was given without a stream is done. On
 * failure it never runs, nor in a forked child for a device's memory of its parent.
 * Errors  GUF_E_ARG <= tensor, its shape or out_array is NULL; unknown flags; address 0 with
 *                      elements
 *         GUF_E_STRUCT, GUF_E_DTYPE, GUF_E_HANDLE
 *         GUF_E_SHAPE <= as guf_array_alloc, or the address range wraps;  GUF_E_NO_MEMORY
 * [mt] [no-block] */
GUF_API guf_status guf_array_wrap(const guf_tensor *tensor, guf_release_fn release, void *user,
                                  uint32_t flags, guf_array *out_array, guf_error *error);

/** Errors  GUF_E_HANDLE <= array (NULL is allowed and does nothing)   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_array_retain(guf_array array, guf_error *error);
GUF_API guf_status guf_array_release(guf_array array, guf_error *error);

/** Errors  GUF_E_ARG <= out_info is NULL;  GUF_E_HANDLE;  GUF_E_STRUCT
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_array_get_info(guf_array array, guf_array_info *out_info, guf_error *error);

/* Views share the memory, keep it alive, and cost no copy. All take `out_array` (one reference for
 * the caller).
 * Errors of all  GUF_E_ARG <= a NULL pointer that is not allowed;  GUF_E_HANDLE;
 * GUF_E_NO_MEMORY */

/** NumPy's a[start:stop:step, ...]: one triple per axis, Python's rules (negative from the end,
 * clipped). INT64_MIN in start or stop stands for an omitted bound. naxes <= ndim; later axes are
 * kept whole.
 * Errors  GUF_E_INDEX <= naxes > ndim;  GUF_E_VALUE <= a step of 0   [mt] [no-block] */
GUF_API guf_status guf_array_slice(guf_array array, int32_t naxes, const int64_t *starts,
                                   const int64_t *stops, const int64_t *steps, guf_array *out_array,
                                   guf_error *error);

/** Reads and writes elements in `order` (C, F or ANY); one extent may be -1. A view always: where
 * NumPy would copy, GUF_E_UNSUPPORTED tells so (guf_array_copy first).
 * Errors  GUF_E_SHAPE <= sizes differ, two -1, or ndim out of range;  GUF_E_ARG <= order
 * [mt] [no-block] */
GUF_API guf_status guf_array_reshape(guf_array array, int32_t ndim, const int64_t *shape,
                                     int32_t order, guf_array *out_array, guf_error *error);

/** The array as one dimension, by `order`; errors as guf_array_reshape.   [mt] [no-block] */
GUF_API guf_status guf_array_ravel(guf_array array, int32_t order, guf_array *out_array,
                                   guf_error *error);

/** Permutes axes; `axes` NULL reverses them. Axis i of the result is axis axes[i] of the array.
 * Errors  GUF_E_VALUE <= naxes is not ndim;  GUF_E_AXIS <= out of range or repeated
 * [mt] [no-block] */
GUF_API guf_status guf_array_transpose(guf_array array, int32_t naxes, const int64_t *axes,
                                       guf_array *out_array, guf_error *error);

/** Stretches axes of extent 1 by stride 0. The result is read-only.
 * Errors  GUF_E_SHAPE <= the shapes do not fit   [mt] [no-block] */
GUF_API guf_status guf_array_broadcast_to(guf_array array, int32_t ndim, const int64_t *shape,
                                          guf_array *out_array, guf_error *error);

/** Drops axes of extent 1: those named, or all when `axes` is NULL.
 * Errors  GUF_E_AXIS <= out of range or repeated;  GUF_E_SHAPE <= a named axis is not 1
 * [mt] [no-block] */
GUF_API guf_status guf_array_squeeze(guf_array array, int32_t naxes, const int64_t *axes,
                                     guf_array *out_array, guf_error *error);

/** Inserts axes of extent 1 at the named positions of the result.
 * Errors  GUF_E_AXIS <= out of range or repeated;  GUF_E_SHAPE <= more than GUF_MAX_NDIM
 * [mt] [no-block] */
GUF_API guf_status guf_array_expand_dims(guf_array array, int32_t naxes, const int64_t *axes,
                                         guf_array *out_array, guf_error *error);

/** NumPy's sliding_window_view over the named axes: each shrinks to extent - window + 1 and a new
 * last axis of extent `window` appears for it, in order. The result is read-only.
 * Errors  GUF_E_AXIS;  GUF_E_SHAPE <= a window below 1 or above its axis   [mt] [no-block] */
GUF_API guf_status guf_array_sliding_window(guf_array array, int32_t naxes, const int64_t *axes,
                                            const int64_t *windows, guf_array *out_array,
                                            guf_error *error);

/** Sets every element to a scalar operand, cast as guf::cast; a weak int must fit the dtype, as in
 * calls. NULL stream: complete on return for host memory.
 * Errors  GUF_E_ARG <= value is NULL or no scalar;  GUF_E_HANDLE;  GUF_E_READ_ONLY;
 *         GUF_E_OVERFLOW <= a weak int outside the dtype;
 *         GUF_E_DEVICE_MISMATCH <= the stream's device is another   [mt-object] */
GUF_API guf_status guf_array_fill(guf_array array, const guf_operand *value, guf_stream stream,
                                  guf_error *error);

/** Copies into a new array of the same dtype and device, laid out by `order`.
 * Errors  GUF_E_ARG <= out_array is NULL, order;  GUF_E_HANDLE;  GUF_E_NO_MEMORY,
 *                      GUF_E_DEVICE_MEMORY
 * [mt] */
GUF_API guf_status guf_array_copy(guf_array array, int32_t order, guf_stream stream,
                                  guf_array *out_array, guf_error *error);

/** Copies `source` into `destination`, broadcasting and casting; overlapping memory behaves as if
 * the source were copied first.
 * Errors  GUF_E_CASTING <= `casting` forbids it;  GUF_E_SHAPE <= source does not broadcast to
 *                          destination;
 *         GUF_E_READ_ONLY;  GUF_E_OVERLAP <= destination overlaps itself;  GUF_E_HANDLE
 * [mt-object] */
GUF_API guf_status guf_array_assign(guf_array destination, guf_array source, int32_t casting,
                                    guf_stream stream, guf_error *error);

/** Copies into a new array of another dtype.
 * Errors  as guf_array_copy;  GUF_E_DTYPE;  GUF_E_CASTING <= `casting` forbids the cast   [mt] */
GUF_API guf_status guf_array_astype(guf_array array, guf_dtype dtype, int32_t casting,
                                    int32_t order, guf_stream stream, guf_array *out_array,
                                    guf_error *error);

/** Copies to `device`: into a new array when *inout_array is NULL, else into that array, whose
 * dtype and shape must be equal. NULL stream: complete on return when one side is host memory.
 * Between two GPUs a copy is queued, by the driver's own way where they are of one backend; the
 * stream may be of either. The other one's part, and both with a NULL stream, come behind what that
 * device was given without a stream and before what it is given later.
 * Errors  GUF_E_HANDLE;  GUF_E_DTYPE, GUF_E_SHAPE <= *inout_array differs;  GUF_E_DEVICE_MISMATCH
 *         <= it lies elsewhere;  GUF_E_READ_ONLY;  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
 * [mt-object] */
GUF_API guf_status guf_array_to_device(guf_array array, guf_device device, guf_stream stream,
                                       guf_array *inout_array, guf_error *error);

/** Waits, at most `timeout_ns` (UINT64_MAX: no limit), for all that the library was given to do
 * with the array's bytes, on streams and without one: then the host may read and write memory that
 * it reaches. Of work that was given addresses alone (launches of plans on GPUs, graphs of the
 * vendor's functions, tensors) the library knows nothing; launches of graphs, and of plans on the
 * cpu, are waited for whatever they use. A failure of the work stays with its stream or device.
 * guf_array_copy_to_host, guf_array_print, and guf_array_to_device to the cpu wait so by themselves
 * when they have no stream.
 * GUF_TIMEOUT: still running.
 * Errors  GUF_E_HANDLE;  GUF_E_CAPTURE <= such work on a GPU of which a stream is captured
 *         GUF_E_NO_MEMORY   [mt], blocks */
GUF_API guf_status guf_array_synchronize(guf_array array, uint64_t timeout_ns, guf_error *error);

/** Copies into host memory of the caller: `nbytes` must be the array's, `order` C or F. Complete on
 * return when `stream` is NULL, and then behind all other work with the array.
 * Errors  GUF_E_ARG <= destination is NULL with bytes to copy, order;  GUF_E_HANDLE;
 *         GUF_E_BUFFER_TOO_SMALL <= nbytes is less than the array's   [mt-object] */
GUF_API guf_status guf_array_copy_to_host(guf_array array, void *destination, uint64_t nbytes,
                                          int32_t order, guf_stream stream, guf_error *error);

/** Writes values as NumPy prints them, then shape, dtype and device:
 *   [1. 2.]
 *   shape (2,), float64, cpu
 * In/out  *inout_length: capacity of `text` on entry, needed length with the NUL on return. Long
 *         arrays are shortened with "..." as NumPy does.
 * Errors  GUF_E_ARG <= inout_length is NULL, or text is NULL with a capacity;  GUF_E_HANDLE;
 *         GUF_E_BUFFER_TOO_SMALL <= text (untouched) cannot hold it   [mt] */
GUF_API guf_status guf_array_print(guf_array array, char *text, uint64_t *inout_length,
                                   guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_ARRAY_H */
