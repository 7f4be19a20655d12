/* SPDX-License-Identifier: Apache-2.0
 * The methods of a ufunc: reduce, accumulate, reduceat, outer, at. Rules and messages are NumPy's.
 * docs/reductions.md specifies the order in which elements are combined, which is the same on every
 * backend. */
#ifndef GUFUNC_METHODS_H
#define GUFUNC_METHODS_H

#include "call.h"

GUF_BEGIN_DECLS

enum { GUF_ALL_AXES = -1 };

/** Arguments of reduce. Zero the structure, set struct_size, then set the fields that are needed.
 * All pointers are borrowed for the duration of the call.
 *
 * input     the operand to reduce.
 * output    GUF_OPERAND_NONE: an output is allocated, and the operand becomes a GUF_OPERAND_ARRAY
 *           with one reference for the caller, or is unchanged if the method fails.
 *           Else an array or tensor of the result's shape, of any dtype: results are cast to this
 *           dtype as by casting='unsafe'.
 * axis      `naxis` axes, without repetition; negative ones count from the end. NULL: axis 0, as
 *           in NumPy. naxis GUF_ALL_AXES: all axes (NumPy's axis=None); `axis` is then ignored.
 *           naxis 0 with a non-NULL `axis`: no axis is reduced (NumPy's axis=()).
 * initial   NULL: the identity, if the ufunc has an identity and the reduction needs it.
 *           GUF_OPERAND_NONE: no initial value (NumPy's initial=None). Else a scalar or 0-d
 *           operand, which is the left operand of the last step of the tree or of the first step
 *           of a left fold (docs/reductions.md). A structured dtype has no identity; its initial
 *           value is a 0-d operand of the same dtype.
 * where     NULL, or a mask (bool) that broadcasts with the input and selects the elements to
 *           reduce.
 * dtype     0, or the dtype of the loop (NumPy's dtype=).
 * outputs   NULL: the result is `output`. Else `noutputs` operands, one per result of a
 *           reduction with a user-defined accumulator (guf_ufunc_set_reduction), each like
 *           `output`, which is then NULL.
 * order     guf_order of an allocated output.
 * parameters  `nparameters` scalars, the parameters of a reduction with a user-defined accumulator:
 *           the inputs of its finish ufunc that follow the accumulator, such as ddof of var. They
 *           are converted to the dtypes of the loop of finish. Parameters that are left out are 0.
 * options   as in guf_call_args. Every step of the reduction may raise floating-point flags,
 *           including the step that uses the initial value. The flags do not depend on the number
 *           of threads (docs/fp-flags.md). Elements that a mask excludes raise no flags. If a flag
 *           of fp_fail is raised, the method fails after all of its work is done: an output that
 *           the caller passed has then been written, and an output to allocate is not returned. */
typedef struct guf_reduce_args {
  uint32_t struct_size;
  uint32_t flags; /* GUF_CALL_KEEPDIMS */
  const guf_operand *input;
  guf_operand *output;
  const int64_t *axis;
  const guf_operand *initial;
  const guf_operand *where;
  guf_call_options options;
  int32_t naxis;
  int32_t order; /* guf_order */
  guf_dtype dtype;
  int32_t noutputs;
  guf_operand *outputs;
  const guf_operand *parameters;
  int32_t nparameters;
  uint32_t reserved; /* 0 */
} guf_reduce_args;

/** Arguments of accumulate and reduceat.
 *
 * indices  reduceat: a 1-d operand of integers in [0, extent of the axis). accumulate: NULL.
 * axis     one axis; a negative one counts from the end. The default is axis 0, as in NumPy.
 * The other fields are as in guf_reduce_args. */
typedef struct guf_accumulate_args {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const guf_operand *input;
  const guf_operand *indices;
  guf_operand *output;
  guf_call_options options;
  int64_t axis;
  guf_dtype dtype;
  int32_t order; /* guf_order */
} guf_accumulate_args;

/** Arguments of at.
 *
 * array     an array or tensor, which is changed in place.
 * indices   `nindices` operands of integers that broadcast together and index the first
 *           `nindices` axes; negative ones count from the end.
 * operand   the second operand of a binary ufunc, which broadcasts to the indexed elements; NULL
 *           for a unary ufunc.
 * options   as in guf_reduce_args. Every occurrence of an index may raise floating-point flags. */
typedef struct guf_at_args {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const guf_operand *array;
  const guf_operand *indices;
  const guf_operand *operand;
  guf_call_options options;
  int32_t nindices;
  uint32_t reserved; /* 0 */
} guf_at_args;

/** Reduces the input along axes: NumPy's ufunc.reduce.
 * In error messages the input is operand 1, the output 2, the mask 3 and the initial value 4. The
 * numbers of the input and the output are their positions in the loop X, Y -> X. If Y is not X
 * (ldexp: a float and an integer), the elements have dtype Y. The first element is converted to X,
 * and each later element is combined with the result so far, in C order if several axes are
 * reduced.
 * In a reduction with a user-defined accumulator (guf_ufunc_set_reduction), each base block of 128
 * elements, counted in C order over all reduced axes, yields an accumulator. Accumulators are
 * merged in aligned pairs, so that the bits of the result follow from the shape alone. In error
 * messages the first result is operand 2; the later results are operands 5 and higher, and the
 * parameters follow the results. Several axes are always allowed.
 * The output is unchanged after an error, except after GUF_E_LOOP, GUF_E_LAUNCH,
 * GUF_E_FLOATING_POINT and a GUF_E_VALUE that a loop reported.
 * [mt-object] as guf_call; reads initial before it returns. Allocates only the output and, if the
 * output overlaps or more than 8 axes longer than 1 are reduced, copies. A reduction with a
 * user-defined accumulator also allocates its accumulators, the indices of the base blocks and a
 * mask of at most 128 elements if the block function has these inputs and, if the reduced axes have
 * no common stride, copies of input and mask.
 * Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG <= as guf_call
 *         GUF_E_ARG             <= input is NULL; both or neither of output and outputs are NULL;
 *                                  noutputs is not the number of results; nparameters is negative
 *                                  or exceeds the number of parameters of finish; a parameter is
 *                                  not a scalar; fp_report or fp_fail has unknown bits; fp_flags is
 *                                  NULL although fp_report is not 0
 *         GUF_E_VALUE           <= the ufunc is not binary, has core dimensions or several outputs;
 *                                  several axes for a ufunc that is not reorderable; an empty
 *                                  reduction, or a mask, without identity or initial value (NumPy's
 *                                  messages); initial is NaN for an integer dtype, or has several
 *                                  elements; `where` for a user-defined accumulator that needs
 *                                  elements
 *         GUF_E_AXIS            <= an axis is out of range or repeated
 *         GUF_E_NO_LOOP, GUF_E_DTYPE, GUF_E_CASTING, GUF_E_OVERFLOW <= the dtypes, the
 *             initial value or the parameters do not fit; merge or finish has no loop of exactly
 *             the accumulator's dtypes
 *         GUF_E_CASTING         <= the loop is X, Y -> X, there is no initial value, and Y cannot
 *                                  be cast to X
 *         GUF_E_UNSUPPORTED     <= a reduction with a user-defined accumulator and `initial`, or
 *                                  with `where` if its ufunc has no mask input
 *         GUF_E_UNSUPPORTED     <= fp_report or fp_fail is not 0 and the backend does not compute
 *                                  flags in methods
 *         GUF_E_UNSUPPORTED     <= a loop of structured dtypes and a backend whose methods do not
 *                                  support them
 *         GUF_E_FLOATING_POINT  <= a flag of fp_fail was raised (NumPy's messages)
 *         GUF_E_SHAPE           <= the output does not have the shape of the result, or the mask
 *                                  does not broadcast
 *         GUF_E_READ_ONLY       <= the output is read-only
 *         GUF_E_OVERLAP         <= elements of the output overlap each other
 *         GUF_E_DEVICE_MISMATCH <= the operands are on different devices, or initial is in device
 *                                  memory
 *         GUF_E_NO_IMAGE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_LOOP, GUF_E_LAUNCH,
 *             GUF_E_SHUTDOWN, GUF_E_FORKED <= as guf_call */
GUF_API guf_status guf_reduce(guf_ufunc ufunc, guf_reduce_args *args, guf_error *error);

/** Computes all partial results along an axis: NumPy's ufunc.accumulate.
 * [mt-object] as guf_call
 * Errors  as guf_reduce, and
 *         GUF_E_ARG     <= args->indices is not NULL
 *         GUF_E_DTYPE   <= the input is 0-d
 *         GUF_E_NO_LOOP <= the loop is not of the form X, X -> X */
GUF_API guf_status guf_accumulate(guf_ufunc ufunc, guf_accumulate_args *args, guf_error *error);

/** Reduces slices of an axis that begin at the indices: NumPy's ufunc.reduceat.
 * [mt-object] as guf_call; reads the indices before it returns, after the stream's earlier work
 * Errors  as guf_accumulate, except for indices, and
 *         GUF_E_ARG             <= args->indices is NULL
 *         GUF_E_INDEX           <= an index is out of range
 *         GUF_E_CASTING         <= the dtype of the indices cannot be cast to int64 by
 *                                  casting='safe'
 *         GUF_E_SHAPE           <= the indices are not 1-d
 *         GUF_E_DEVICE_MISMATCH <= the indices are in device memory */
GUF_API guf_status guf_reduceat(guf_ufunc ufunc, guf_accumulate_args *args, guf_error *error);

/** Applies a binary ufunc to all pairs of elements: NumPy's ufunc.outer. The result has the axes of
 * the first input, then the axes of the second. `args` is as for guf_call, without axes, axis and
 * dims.
 * [mt-object] as guf_call
 * Errors  as guf_call, and
 *         GUF_E_VALUE <= the ufunc is not binary
 *         GUF_E_DTYPE <= the ufunc has core dimensions */
GUF_API guf_status guf_outer(guf_ufunc ufunc, guf_call_args *args, guf_error *error);

/** Computes array[indices] = op(array[indices], operand) without buffering, so that every
 * occurrence of an index takes effect: NumPy's ufunc.at. A weak scalar is
 * converted to its default dtype; dtypes are cast as by casting='unsafe'. In error messages about
 * its use as an input, the array is operand 0; in messages about its use as an output, it has the
 * number of the output. `operand` is operand 1, and the indices are operands 2 and higher.
 * The array is unchanged after an error, except after errors of a loop and GUF_E_FLOATING_POINT.
 * [mt-object] as guf_call; reads the indices before it returns, after the stream's earlier work.
 * Allocates 16 bytes for each element of the indices.
 * Errors  as guf_reduce, and
 *         GUF_E_ARG       <= nindices is negative or exceeds GUF_MAX_NDIM
 *         GUF_E_VALUE     <= the ufunc does not have one or two inputs and one output; operand is
 *                            missing, or is given for a unary ufunc
 *         GUF_E_DTYPE     <= the ufunc has core dimensions
 *         GUF_E_INDEX     <= an index is out of range; indices are not integers, exceed the number
 *                            of axes, or do not broadcast together
 *         GUF_E_SHAPE     <= operand does not broadcast to the indexed elements
 *         GUF_E_READ_ONLY <= the array is read-only
 *         GUF_E_OVERLAP   <= elements of the array overlap each other */
GUF_API guf_status guf_at(guf_ufunc ufunc, const guf_at_args *args, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_METHODS_H */
