/* SPDX-License-Identifier: Apache-2.0
 * The methods of a ufunc: reduce, accumulate, reduceat, outer, at. NumPy's rules and texts; the
 * order in which elements are folded is docs/reductions.md, the same on every backend. */
#ifndef GUFUNC_METHODS_H
#define GUFUNC_METHODS_H

#include "call.h"

GUF_BEGIN_DECLS

enum { GUF_ALL_AXES = -1 };

/** What reduce takes. Zero everything, set struct_size, then what is needed.
 *
 * input    the operand to fold.
 * output   GUF_OPERAND_NONE: allocated, and then a GUF_OPERAND_ARRAY whose reference is the
 *          caller's; unchanged on failure. Else an array or tensor of the result's shape, of any
 *          dtype: results are cast to it as by casting='unsafe'.
 * axis     `naxis` axes, negative ones from the end, each once. NULL: axis 0, as in NumPy. naxis
 *          GUF_ALL_AXES: all of them (NumPy's axis=None), `axis` is then not read. naxis 0 with a
 *          non-NULL `axis` folds nothing (NumPy's axis=()).
 * initial  NULL: the identity, where there is one and it is needed. GUF_OPERAND_NONE: no value
 *          (NumPy's initial=None). Else a scalar or 0-d operand: the left operand of every result.
 *          Of a record a 0-d operand of that record; it has no identity.
 * where    NULL, or a mask (bool) that broadcasts with the input: elements that take part.
 * dtype    0, or the type of the loop (NumPy's dtype=).
 * outputs  NULL: `output` is the result. Else `noutputs` of them, one per result of a reduction
 *          with a state (guf_ufunc_set_reduction), each as `output`, which is then NULL.
 * order    layout of an allocated output.
 * fp_events, fp_report, fp_fail
 *          as in guf_call_args: of every step of the fold, the initial value's included, whatever
 *          the number of threads (docs/fp-events.md). Elements that a mask leaves out have none.
 *          What fp_fail names fails the method when all of it is done: a given output is then
 *          written, none is allocated. */
typedef struct guf_reduce_args {
  uint32_t struct_size;
  uint32_t flags; /* GUF_CALL_KEEPDIMS */
  const guf_operand *input;
  guf_operand *output;
  const int64_t *axis;
  const guf_operand *initial;
  const guf_operand *where;
  guf_stream stream;
  guf_device device;
  int32_t naxis;
  int32_t order; /* guf_order */
  guf_dtype dtype;
  uint32_t threads;
  guf_operand *outputs;
  int32_t noutputs;
  uint32_t reserved;
  uint32_t *fp_events;
  uint32_t fp_report; /* guf_fp_event */
  uint32_t fp_fail;   /* guf_fp_event */
} guf_reduce_args;

/** What accumulate and reduceat take.
 *
 * indices  reduceat: a 1-d operand of integers in [0, extent of the axis); accumulate: NULL.
 * axis     one axis, negative from the end; zeroed it is axis 0, NumPy's default.
 * The rest as in guf_reduce_args. */
typedef struct guf_accumulate_args {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const guf_operand *input;
  const guf_operand *indices;
  guf_operand *output;
  guf_stream stream;
  guf_device device;
  int64_t axis;
  guf_dtype dtype;
  int32_t order;
  uint32_t threads;
  uint32_t reserved;
  uint32_t *fp_events;
  uint32_t fp_report; /* guf_fp_event */
  uint32_t fp_fail;   /* guf_fp_event */
} guf_accumulate_args;

/** What at takes.
 *
 * array    an array or tensor, changed in place.
 * indices  `nindices` operands of integers that broadcast together and index the first `nindices`
 *          axes; negative ones count from the end.
 * operand  the second operand of a binary ufunc, broadcast to the indexed elements; NULL for a
 *          unary one.
 * fp_events, fp_report, fp_fail
 *          as in guf_reduce_args: of every occurrence of an index. */
typedef struct guf_at_args {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  const guf_operand *array;
  const guf_operand *indices;
  const guf_operand *operand;
  guf_stream stream;
  guf_device device;
  int32_t nindices;
  uint32_t threads;
  uint32_t *fp_events;
  uint32_t fp_report; /* guf_fp_event */
  uint32_t fp_fail;   /* guf_fp_event */
} guf_at_args;

/** Folds elements along axes: NumPy's ufunc.reduce. Messages number the input 1, the output 2, the
 * mask 3, the initial value 4: their places in the loop X, Y -> X, and behind it. Where Y is not X
 * (ldexp: a float and an integer) the elements are Y's: the first becomes an X, the others are
 * folded into it from the left, several axes in C order.
 * Of a reduction with a state (guf_ufunc_set_reduction) each leaf of 128 elements, counted in C
 * order over all folded axes, makes a state; states are merged in aligned pairs, so that the bits
 * follow from the shape alone. Its first result is 2 in messages, the others are 5 and on. Several
 * axes are always allowed.
 * Errors  GUF_E_HANDLE, GUF_E_STRUCT, GUF_E_ARG <= as guf_call's;  GUF_E_ARG <= input is NULL;
 *                 output and outputs are both NULL, or neither is;  noutputs is not the number of
 *                 results;  fp_report or fp_fail has unknown bits;  fp_report without fp_events
 *         GUF_E_VALUE <= the ufunc is not binary, has core dimensions or several outputs; several
 *                 axes and the order matters; no identity and no elements, or a mask without
 *                 initial (NumPy's texts); initial is NaN for an integer, or has several elements
 *         GUF_E_AXIS <= out of range, or twice
 *         GUF_E_NO_LOOP, GUF_E_DTYPE, GUF_E_CASTING, GUF_E_OVERFLOW <= types, the initial value;
 *                 merge or finish has no loop of exactly the state's types
 *         GUF_E_UNSUPPORTED <= a reduction with a state: initial, or where= with a leaf without
 *                 a mask;  GUF_E_VALUE <= where= with a leaf that needs elements
 *         GUF_E_CASTING <= a loop X, Y -> X without a value to start from, where Y has no cast to X
 *         GUF_E_UNSUPPORTED <= fp_report or fp_fail, and the backend looks for no events in methods
 *         GUF_E_UNSUPPORTED <= a loop over records, and the backend's methods take none
 *         GUF_E_FLOATING_POINT <= an event that fp_fail names (NumPy's texts)
 *         GUF_E_SHAPE <= the output's, the mask's;  GUF_E_READ_ONLY;  GUF_E_OVERLAP <= the output
 *                 overlaps itself
 *         GUF_E_DEVICE_MISMATCH <= operands, or initial in device memory
 *         GUF_E_NO_IMAGE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_LOOP, GUF_E_LAUNCH,
 *         GUF_E_SHUTDOWN, GUF_E_FORKED <= as guf_call's
 *         The output is untouched after every error but GUF_E_LOOP, GUF_E_LAUNCH, GUF_E_VALUE of a
 *         loop and GUF_E_FLOATING_POINT.
 * [mt-object] as guf_call; reads initial before it returns. Allocates only the output and, where
 * the output overlaps or more than 8 axes longer than 1 are folded, copies; of a reduction with a
 * state its states and, where what is folded has no one stride, copies of input and mask. */
GUF_API guf_status guf_reduce(guf_ufunc ufunc, guf_reduce_args *args, guf_error *error);

/** All partial results along an axis: NumPy's ufunc.accumulate.
 * Errors  as guf_reduce's;  GUF_E_ARG <= args->indices is not NULL;  GUF_E_DTYPE <= a 0-d input;
 *         GUF_E_NO_LOOP <= the loop found is no X, X -> X
 * [mt-object] as guf_call */
GUF_API guf_status guf_accumulate(guf_ufunc ufunc, guf_accumulate_args *args, guf_error *error);

/** Folds the stretches of an axis that indices begin: NumPy's ufunc.reduceat.
 * Errors  as guf_accumulate's;  GUF_E_ARG <= args->indices is NULL;  GUF_E_INDEX <= an index out of
 *         range;  GUF_E_CASTING <= indices that int64 does not hold safely;  GUF_E_SHAPE <= indices
 *         that are not 1-d;  GUF_E_DEVICE_MISMATCH <= they lie in device memory
 * [mt-object] as guf_call; reads the indices before it returns, after the stream's earlier work */
GUF_API guf_status guf_reduceat(guf_ufunc ufunc, guf_accumulate_args *args, guf_error *error);

/** Applies a binary ufunc to all pairs: the result has the first input's axes, then the second's
 * (NumPy's ufunc.outer). args as for guf_call, without axes, axis and dims.
 * Errors  as guf_call's;  GUF_E_VALUE <= the ufunc is not binary;  GUF_E_DTYPE <= it has core
 *         dimensions
 * [mt-object] as guf_call */
GUF_API guf_status guf_outer(guf_ufunc ufunc, guf_call_args *args, guf_error *error);

/** array[indices] = op(array[indices], operand), unbuffered: every occurrence of an index counts
 * (NumPy's ufunc.at).
 * Scalars are not weak; types are cast as by casting='unsafe'. Messages number the array 0, or
 * as it is written by its place among the outputs; the operand 1, the indices from 2.
 * Errors  as guf_reduce's;  GUF_E_VALUE <= not one or two inputs, not one output, the operand is
 *         missing or one too many;  GUF_E_DTYPE <= core dimensions;  GUF_E_INDEX <= an index out of
 *         range, no integers, too many indices, indices that do not broadcast;  GUF_E_SHAPE <= the
 *         operand does not broadcast;  GUF_E_READ_ONLY, GUF_E_OVERLAP <= the array. It is untouched
 *         after every error but those of a loop and GUF_E_FLOATING_POINT.
 * [mt-object] as guf_call; reads the indices before it returns, after the stream's earlier work.
 * Allocates 16 bytes for each element of the indices. */
GUF_API guf_status guf_at(guf_ufunc ufunc, const guf_at_args *args, guf_error *error);

/* ------------------------------------------------------------------ what a method would do */

/** What guf_resolve is to guf_call: the loop, its types and the result's shape, without doing it.
 * The operands of reduce, accumulate and reduceat are three, those of the loop X, Y -> X: the
 * result, the input, the result again. Those of at are the array, the operand of a binary ufunc,
 * the array. No element is read: neither indices nor an initial value that lies in memory.
 * Errors  as the method's before its launch, but those of values in memory: GUF_E_INDEX <= an index
 *         out of range;  GUF_E_OVERFLOW, GUF_E_VALUE <= an initial value;  GUF_E_ARG <=
 *         out_resolution is NULL
 * [mt] [no-block] */
GUF_API guf_status guf_resolve_reduce(guf_ufunc ufunc, const guf_reduce_args *args,
                                      guf_resolution *out_resolution, guf_error *error);
GUF_API guf_status guf_resolve_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args,
                                          guf_resolution *out_resolution, guf_error *error);
GUF_API guf_status guf_resolve_reduceat(guf_ufunc ufunc, const guf_accumulate_args *args,
                                        guf_resolution *out_resolution, guf_error *error);
GUF_API guf_status guf_resolve_outer(guf_ufunc ufunc, const guf_call_args *args,
                                     guf_resolution *out_resolution, guf_error *error);
GUF_API guf_status guf_resolve_at(guf_ufunc ufunc, const guf_at_args *args,
                                  guf_resolution *out_resolution, guf_error *error);

/** The same as text: the loop, its kernel, the loops refused and why, casts, shapes, the order in
 * which elements are folded, and copies.
 * In/out  *inout_length: capacity of `text` on entry, needed length with the NUL on return.
 * Errors  as above;  GUF_E_NO_IMAGE;  GUF_E_ARG <= inout_length is NULL, or text with a capacity;
 *         GUF_E_BUFFER_TOO_SMALL <= text (untouched) cannot hold it
 * [mt] [no-block] */
GUF_API guf_status guf_explain_reduce(guf_ufunc ufunc, const guf_reduce_args *args, char *text,
                                      uint64_t *inout_length, guf_error *error);
GUF_API guf_status guf_explain_accumulate(guf_ufunc ufunc, const guf_accumulate_args *args,
                                          char *text, uint64_t *inout_length, guf_error *error);
GUF_API guf_status guf_explain_reduceat(guf_ufunc ufunc, const guf_accumulate_args *args,
                                        char *text, uint64_t *inout_length, guf_error *error);
GUF_API guf_status guf_explain_outer(guf_ufunc ufunc, const guf_call_args *args, char *text,
                                     uint64_t *inout_length, guf_error *error);
GUF_API guf_status guf_explain_at(guf_ufunc ufunc, const guf_at_args *args, char *text,
                                  uint64_t *inout_length, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_METHODS_H */
