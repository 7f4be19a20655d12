/* SPDX-License-Identifier: Apache-2.0
 * Calls: apply a ufunc to whole arrays. Plans: calls that are prepared once and launched many
 * times. */
#ifndef GUFUNC_CALL_H
#define GUFUNC_CALL_H

#include "ufunc.h"

GUF_BEGIN_DECLS

/** What happens to operands in host memory if the call runs on a device that cannot access host
 * memory. Inputs are copied to the device, outputs are copied back, and the call is complete on
 * return, even on a stream. Scalars are not affected, because they are passed with the
 * launch. */
enum guf_host_policy {
  GUF_HOST_DEFAULT = 0,      /* if all operands are in host memory, they are copied, and outputs are
                                allocated in host memory; a mix of host and device memory is refused
                                (GUF_E_DEVICE_MISMATCH) */
  GUF_HOST_COPY = 1,         /* a mix of host and device memory is copied too; outputs are allocated
                                on the device */
  GUF_HOST_COPY_AND_WARN = 2 /* like COPY, and a warning is logged (guf_log_read) */
};

enum guf_call_flag {
  GUF_CALL_KEEPDIMS = 1u << 0 /* keep reduced core dimensions, with extent 1 */
};

/** Name and size of a core dimension that only outputs have. */
typedef struct guf_dim {
  const char *name;
  int64_t size;
} guf_dim;

/** The axes of the core dimensions of one operand: one entry of NumPy's axes=. */
typedef struct guf_core_axes {
  const int64_t *axis; /* `naxis` axes; negative ones count from the end. NULL if naxis is 0 */
  int32_t naxis;
  uint32_t reserved; /* 0 */
} guf_core_axes;

/** The options that calls and methods share.
 *
 * stream       NULL, or the stream on which the work is queued.
 * device       NULL: the device of the operands, or cpu if all are scalars. "auto": see
 *              guf_device_get.
 * fp_flags     NULL, or the word into which the call ORs those floating-point flags that its
 *              elements raise and that `fp_report` selects. Flags that neither `fp_report` nor
 *              `fp_fail` selects are not computed; computing them costs a pass over operands and
 *              results. If the work is queued (on a stream, or with a NULL stream on the default
 *              stream of a GPU), the word is written when the work is complete and must stay valid
 *              until then. Elements that a mask excludes raise no flags, and neither do casts of
 *              operands and results.
 * fp_fail      flags that make the call fail with GUF_E_FLOATING_POINT. The outputs are still
 *              written.
 * threads      0: the backend decides by the estimated cost of the call. Else the number of
 *              threads, limited by the number of items and by the threads of the process (cpu).
 *              Results are bit-identical for every value. */
typedef struct guf_call_options {
  guf_stream stream;
  guf_device device;
  uint32_t *fp_flags;
  uint32_t fp_report; /* guf_fp_flag */
  uint32_t fp_fail;   /* guf_fp_flag */
  uint32_t threads;
  uint32_t reserved; /* 0 */
} guf_call_options;

/** Arguments of a call. Zero the structure, set struct_size, then set the fields that are needed.
 * All pointers are borrowed for the duration of the call.
 *
 * inputs       `ninputs` operands; ninputs is the ufunc's nin.
 * outputs      `noutputs` operands: nout, or 0 to allocate all outputs. An output of kind
 *              GUF_OPERAND_NONE is allocated: the operand becomes a GUF_OPERAND_ARRAY with one
 *              reference for the caller, or is unchanged if the call fails. The shape of an output
 *              is the broadcast shape of the inputs or a shape that the inputs broadcast to. Its
 *              strides may have any value. Its dtype may differ from the loop's if `casting` allows
 *              the cast.
 *              A signature without outputs has inout operands instead. Inout operands are among the
 *              inputs, must be arrays or tensors, and are written in place. For such a signature
 *              `noutputs` may also be the number of written operands: each inout operand is then
 *              first copied (and cast) into its output, and the kernel writes the output instead of
 *              the operand. With `where`, only the outer items that the mask selects are written.
 *              Inputs and outputs may overlap in any way: the result is as if the inputs were
 *              copied first. Outputs that overlap each other are written one after another, in
 *              their order.
 * where        NULL, or a mask (bool) that broadcasts with the loop dimensions. Where the mask is
 *              false, outputs keep their values.
 * dtype        0, or the dtype that the loop's outputs must have (NumPy's dtype=).
 * signature    NULL, or nin + nout dtypes, 0 for any (NumPy's signature=).
 * order        guf_order of allocated outputs.
 * axes         NULL, or the axes of the core dimensions of each operand, inputs first (NumPy's
 *              axes=). `naxes` is nin + nout, or nin if the signature has no core dimensions in
 *              outputs. Operands without core dimensions have empty entries. With
 *              GUF_CALL_KEEPDIMS an output has as many core dimensions as each input.
 * axis         NULL, or one axis, for a signature with a single core dimension that all operands
 *              share (NumPy's axis=).
 * dims         NULL, or `ndims` sizes of core dimensions that only outputs have.
 * options      stream, device, threads and floating-point flags.
 * host_policy  which operands in host memory may be copied to the device and back. */
typedef struct guf_call_args {
  uint32_t struct_size;
  uint32_t flags; /* guf_call_flag */
  int32_t ninputs;
  int32_t noutputs;
  const guf_operand *inputs;
  guf_operand *outputs;
  const guf_operand *where;
  guf_call_options options;
  int32_t casting; /* guf_casting */
  int32_t order;   /* guf_order */
  guf_dtype dtype;
  int32_t nsignature;
  const guf_dtype *signature;
  const guf_core_axes *axes;
  const int64_t *axis;
  const guf_dim *dims;
  int32_t naxes;
  int32_t ndims;
  int32_t host_policy; /* guf_host_policy */
  uint32_t reserved;   /* 0 */
} guf_call_args;

/** Applies a ufunc.
 * The call is complete on return in these cases: on the cpu, if `stream` is NULL; on a GPU, if an
 * operand in host memory has to be copied to the device, even with a stream; on a GPU with a NULL
 * stream, if an operand is in mapped or managed host memory. Else the work of the call is queued on
 * `stream` or, with a NULL stream, on the device's default stream (guf_device_synchronize). The
 * library keeps arrays alive until the work is complete; the caller keeps tensors alive. On an idle
 * stream of the cpu, work that is known to be short may run before the call returns. A loop without
 * GUF_LOOP_ANY_THREAD runs only on threads of the program, inside their calls of the library.
 * Outputs are unchanged after an error, except after GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY,
 * GUF_E_LOOP, GUF_E_LAUNCH, GUF_E_SHUTDOWN, GUF_E_FORKED, GUF_E_FLOATING_POINT and a GUF_E_VALUE
 * that a loop reported.
 *
 * Thread state: the call runs under the default floating-point control (round to nearest, subnormal
 * numbers kept, no traps) and restores the calling thread's floating-point control before it
 * returns. Exception flags of the processor that arithmetic raised stay raised. errno and the
 * signal mask are unchanged. No function of the library is a cancellation point: a pthread_cancel
 * during a function takes effect after the function. If a loop throws an exception, its call fails
 * with GUF_E_LOOP. A loop must not end its thread or jump out of the call.
 *
 * [mt-object]: nothing else may use the outputs during the call. Allocates only outputs and, for
 * overlapping operands, copies. Stack: calls, methods, plan creation, guf_resolve and guf_explain
 * need up to 256 KiB of the calling thread's stack, in addition to the stack that the program's own
 * loops and hooks use.
 * Errors  GUF_E_HANDLE          <= ufunc, stream, device or an array is not a live handle of its
 *                                  kind
 *         GUF_E_STRUCT          <= args->struct_size is not valid
 *         GUF_E_ARG             <= wrong number of operands; unknown operand kind, flag or enum
 *                                  value; a required pointer is NULL; wrong number of entries in
 *                                  axes; axis does not fit the signature, or both axis and axes are
 *                                  given
 *         GUF_E_DTYPE           <= args->dtype, an element of args->signature, or the dtype of a
 *                                  tensor or scalar is not a dtype; a structured dtype in
 *                                  non-native byte order or as a scalar
 *         GUF_E_NO_LOOP         <= no loop for these dtypes (NumPy's messages)
 *         GUF_E_CASTING         <= `casting` forbids a required cast (NumPy's messages)
 *         GUF_E_OVERFLOW        <= a weak integer does not fit the loop's dtype (NumPy's messages)
 *         GUF_E_SHAPE           <= shapes do not broadcast; core dimensions or output shapes do not
 *                                  match (NumPy's messages); a rule is violated; or the core_dims
 *                                  hook returned or changed an invalid size
 *         any error             <= returned by the core_dims hook, with its message. GUF_E_LOOP if
 *                                  the hook returned a status that is not an error
 *         GUF_E_AXIS            <= an axis is out of range or repeated, or an entry of axes does
 *                                  not have as many axes as its operand has core dimensions
 *         GUF_E_READ_ONLY       <= an output or inout operand is read-only
 *         GUF_E_OVERLAP         <= elements of an output overlap each other, or two outputs of
 *                                  inout operands overlap
 *         GUF_E_VALUE           <= an integer to a negative power, or a value that a value rule
 *                                  forbids
 *         GUF_E_FLOATING_POINT  <= a flag of fp_fail was raised (NumPy's messages)
 *         GUF_E_UNSUPPORTED     <= inputs and separate outputs together exceed GUF_MAX_OPERANDS; or
 *                                  fp_report or fp_fail is not 0 and the backend does not compute
 *                                  flags
 *         GUF_E_CAPTURE         <= the stream is being captured, and the call would have to
 *                                  allocate memory (gufunc/graph.h)
 *         GUF_E_NO_IMAGE        <= no kernel for the device
 *         GUF_E_DEVICE_MISMATCH <= operands, stream and device do not belong together
 *         GUF_E_SHUTDOWN        <= after guf_shutdown
 *         GUF_E_FORKED          <= the stream was created before a fork
 *         GUF_E_NO_MEMORY       <= a host allocation failed
 *         GUF_E_DEVICE_MEMORY   <= a device allocation failed
 *         GUF_E_LOOP            <= a loop of the program returned an error
 *         GUF_E_LAUNCH          <= the backend refused the launch, or it failed */
GUF_API guf_status guf_call(guf_ufunc ufunc, guf_call_args *args, guf_error *error);

/** Applies the ufunc `name` to arrays in host memory: guf_ufunc_find and guf_call in one step, with
 * the default of every option.
 * context   NULL means the default context.
 * tensors   one per operand: the inputs, then the outputs. All have the same struct_size, a
 *           multiple of 8. The outputs must be given, and have the broadcast shape of the inputs.
 *           A tensor with a device is accepted as in guf_call.
 * [mt-object] as guf_call. Blocks until the outputs are complete.
 * Errors  as guf_ufunc_find and guf_call, and
 *         GUF_E_ARG    <= name or tensors is NULL; ntensors is not the number of operands
 *         GUF_E_STRUCT <= the struct_size of a tensor differs or is not a multiple of 8
 *         GUF_E_LAUNCH, GUF_E_DEVICE_LOST <= the queued work of a device failed */
GUF_API guf_status guf_apply(guf_context context, const char *name, int32_t ntensors,
                             const guf_tensor *tensors, guf_error *error);

/* ------------------------------------------------------------------ plans */

typedef struct guf_plan_s *guf_plan;

/** Prepares a call for operands of the given dtypes, shapes and strides. All decisions of the call
 * are made by this function. The plan does not keep the addresses of the operands. It keeps how
 * each pair of operands overlaps: the two are disjoint, are the same view, or one of them is staged
 * in the workspace. All outputs must be given. Scalars are stored by value. Inout operands of a
 * signature without outputs are written in place.
 * Ownership  the caller receives one reference; the plan keeps the ufunc's loops and modules alive.
 * [mt]
 * Errors     as guf_call before the launch, and
 *            GUF_E_ARG         <= an output is GUF_OPERAND_NONE, or out_plan is NULL
 *            GUF_E_UNSUPPORTED <= fp_report or fp_fail is not 0, because plans do not compute
 *                                 flags; an inout operand has a separate output; an operand is in
 *                                 host memory that the device cannot access */
GUF_API guf_status guf_plan_create(guf_ufunc ufunc, const guf_call_args *args, guf_plan *out_plan,
                                   guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= plan is not a live plan (NULL is allowed and has no effect) */
GUF_API guf_status guf_plan_retain(guf_plan plan, guf_error *error);
GUF_API guf_status guf_plan_release(guf_plan plan, guf_error *error);

/** Returns size and alignment, in bytes, of the workspace that each launch needs in the memory of
 * the plan's device. Size 0 means that no workspace is needed.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_nbytes or out_alignment is NULL
 *         GUF_E_HANDLE <= plan is not a live plan */
GUF_API guf_status guf_plan_workspace(guf_plan plan, uint64_t *out_nbytes, uint64_t *out_alignment,
                                      guf_error *error);

/** Launches a plan on the operands at `addresses`: one address per input, one per output, then the
 * mask's address if the plan was created with `where`. The address of a scalar is ignored.
 * Addresses may be unaligned. Threads may launch one plan concurrently, each with its own outputs
 * and workspace.
 * [mt]. [capture-safe] except as stated under GUF_E_CAPTURE. [no-alloc] with a NULL stream; with a
 * stream the library allocates the list of the objects that it keeps alive. Blocks only on the cpu
 * with a NULL stream, until the result is complete.
 * Errors  GUF_E_HANDLE          <= plan or stream is not a live handle of its kind
 *         GUF_E_ARG             <= naddresses is not the number of addresses; an address is NULL
 *                                  and there are items; workspace is 0 and one is needed
 *         GUF_E_PLAN_MISMATCH   <= the addresses overlap in a way that the plan was not made for
 *         GUF_E_DEVICE_MISMATCH <= the stream belongs to another device
 *         GUF_E_LOOP, GUF_E_VALUE, GUF_E_LAUNCH, GUF_E_SHUTDOWN, GUF_E_FORKED <= as guf_call
 *         GUF_E_CAPTURE         <= the stream is captured, and operands must be staged in memory of
 *                                  the library; or the program captures with the vendor's
 *                                  functions, and the loop may fail (integer power, functions with
 *                                  failure=) */
GUF_API guf_status guf_plan_launch(guf_plan plan, guf_stream stream, int32_t naddresses,
                                   const uint64_t *addresses, uint64_t workspace, guf_error *error);

/** Describes as text what a plan does and why: its loop, its kernel, casts, loop dimensions, the
 * reasons why other loops were rejected, and how the backend runs the kernel on operands with the
 * layout for which the plan was made.
 * In/out  *inout_length: on entry the capacity of `text` in bytes, on return the required length
 *         including the NUL.
 * [mt] [no-block]
 * Errors  GUF_E_ARG    <= inout_length is NULL, or text is NULL and the capacity is not 0
 *         GUF_E_HANDLE <= plan is not a live plan
 *         GUF_E_BUFFER_TOO_SMALL <= the text does not fit; `text` is unchanged */
GUF_API guf_status guf_plan_explain(guf_plan plan, char *text, uint64_t *inout_length,
                                    guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_CALL_H */
