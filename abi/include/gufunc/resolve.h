/* SPDX-License-Identifier: Apache-2.0
 * Reports what a call or a method would do, without running it. */
#ifndef GUFUNC_RESOLVE_H
#define GUFUNC_RESOLVE_H

#include "methods.h"

GUF_BEGIN_DECLS

/** The functions whose work can be resolved and explained. */
enum guf_operation {
  GUF_OPERATION_CALL = 1,       /* guf_call */
  GUF_OPERATION_OUTER = 2,      /* guf_outer */
  GUF_OPERATION_REDUCE = 3,     /* guf_reduce */
  GUF_OPERATION_ACCUMULATE = 4, /* guf_accumulate */
  GUF_OPERATION_REDUCEAT = 5,   /* guf_reduceat */
  GUF_OPERATION_AT = 6          /* guf_at */
};

/** A call or a method with its arguments. `operation` selects the pointer that is read; the other
 * pointers are ignored. Zero the structure, set struct_size, then set the two fields. */
typedef struct guf_request {
  uint32_t struct_size;
  int32_t operation;                     /* guf_operation */
  const guf_call_args *call;             /* GUF_OPERATION_CALL, GUF_OPERATION_OUTER */
  const guf_reduce_args *reduce;         /* GUF_OPERATION_REDUCE */
  const guf_accumulate_args *accumulate; /* GUF_OPERATION_ACCUMULATE, GUF_OPERATION_REDUCEAT */
  const guf_at_args *at;                 /* GUF_OPERATION_AT */
} guf_request;

/** Result of guf_resolve: the dtypes of the loop and the shape of each output. In each
 * shape, only the first elements are written, as many as output_ndims states. */
typedef struct guf_resolution {
  uint32_t struct_size;
  uint32_t loop; /* index of the loop, see guf_ufunc_loop_types */
  int32_t noperands;
  uint32_t reserved;
  guf_dtype loop_dtypes[GUF_MAX_OPERANDS]; /* dtypes of the loop */
  guf_dtype dtypes[GUF_MAX_OPERANDS];      /* dtypes of the operands, including outputs to
                                              allocate */
  int32_t output_ndims[GUF_MAX_OPERANDS];
  int64_t output_shapes[GUF_MAX_OPERANDS][GUF_MAX_NDIM]; /* indexed by output */
} guf_resolution;

/** Returns the loop that a call or a method would use, the dtypes of its operands and the shapes of
 * its outputs.
 * The operands of a reduce, accumulate or reduceat are the three operands of the loop X, Y -> X:
 * the result, the input, the result. The operands of an at are the array, the operand of a binary
 * ufunc, and the array. A call reads only the elements that value rules use, and a method reads
 * none.
 * [mt] [no-block]
 * Errors  as the call or the method before its launch. A method's indices and initial value are not
 *         read, so the errors GUF_E_INDEX, GUF_E_OVERFLOW and GUF_E_VALUE that depend on them are
 *         not detected
 *         GUF_E_STRUCT <= request->struct_size or out_resolution->struct_size is not valid
 *         GUF_E_ARG    <= request or out_resolution is NULL; request->operation is not a
 *                         guf_operation; the selected pointer is NULL */
GUF_API guf_status guf_resolve(guf_ufunc ufunc, const guf_request *request,
                               guf_resolution *out_resolution, guf_error *error);

/** Describes as text what a call or a method would do and why: the loop, its kernel, the reasons
 * why other loops were rejected, casts, shapes, copies, and for methods the order in which elements
 * are combined. The format is the same as that of guf_plan_explain. Outputs may be missing as in
 * guf_call: the text marks them "to allocate". A call copies the operands that a plan would stage
 * in its workspace.
 * In/out  *inout_length: on entry the capacity of `text` in bytes, on return the required length
 *         including the NUL.
 * [mt] [no-block]
 * Errors  as guf_resolve, and
 *         GUF_E_NO_IMAGE <= no kernel for the device
 *         GUF_E_ARG      <= inout_length is NULL, or text is NULL and the capacity is not 0
 *         GUF_E_BUFFER_TOO_SMALL <= the text does not fit; `text` is unchanged */
GUF_API guf_status guf_explain(guf_ufunc ufunc, const guf_request *request, char *text,
                               uint64_t *inout_length, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_RESOLVE_H */
