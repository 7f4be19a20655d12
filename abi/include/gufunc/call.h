/* SPDX-License-Identifier: Apache-2.0
 * Calls: a ufunc applied to whole arrays; and plans, calls prepared once and launched many
 * times. */
#ifndef GUFUNC_CALL_H
#define GUFUNC_CALL_H

#include "ufunc.h"

GUF_BEGIN_DECLS

/** What to do with operands in host memory when the call runs on a device that cannot read it.
 * Operands that are copied are brought to the device, outputs go back, and the call is complete on
 * return, on a stream too. Scalars are no memory: they travel with the launch. */
enum guf_host_policy {
  GUF_HOST_DEFAULT = 0, /* all in host memory: copied, and outputs are allocated there. A mix of
                           host and device memory is refused (GUF_E_DEVICE_MISMATCH) */
  GUF_HOST_COPY = 1,    /* a mix is copied too; outputs are allocated on the device */
  GUF_HOST_COPY_AND_WARN = 2 /* the same, with a line in the log (guf_log_read) */
};

enum guf_call_flag {
  GUF_CALL_KEEPDIMS = 1u << 0 /* reduced core dimensions stay, with extent 1 */
};

/** A core dimension that only outputs have, given by name. */
typedef struct guf_dim {
  const char *name;
  int64_t size;
} guf_dim;

/** All that a call takes. Zero everything, set struct_size, then what is needed.
 *
 * inputs    `ninputs` operands, the ufunc's nin.
 * outputs   `noutputs` operands: nout, or 0 for "allocate all". A GUF_OPERAND_NONE is allocated and
 *           becomes a GUF_OPERAND_ARRAY whose reference is the caller's; unchanged on failure. An
 *           output may be larger than the broadcast inputs, never smaller; of any strides; of
 *           another dtype if `casting` allows the cast. An inout operand of a signature without
 *           outputs stands among the inputs and must be an array or tensor; it is written in place.
 *           With such a signature `noutputs` may also be the number of written operands: each of
 *           them is then copied (and cast) into its output first, and the outputs are written
 *           instead, with `where` only the outer items that it has.
 *           Inputs and outputs may overlap in any way: the result is as if inputs were copied
 *           first. Outputs that overlap one another are written one after the other, the last one
 *           last.
 * where     NULL, or a mask (bool, broadcast with the loop dimensions): where false, outputs keep
 *           their values.
 * dtype     0, or the type of the outputs that the loop must have (NumPy's dtype=).
 * signature NULL, or nin + nout dtypes, 0 for "any" (NumPy's signature=).
 * order     layout of allocated outputs.
 * axes      NULL, or for each operand as many axes as it has core dimensions, one after the other
 *           (NumPy's axes=): `naxes` in all; operands without core dimensions take none. Outputs'
 *           may be left out when they have none.
 * axis      NULL, or one axis for a signature whose only core dimension is shared (NumPy's axis=).
 * dims      NULL, or sizes of core dimensions that only outputs have.
 * device    NULL: where the operands lie; cpu when all are scalars. "auto": see guf_device_get.
 * host_policy  which operands in host memory may be copied to the device and back.
 * threads   0: the backend's choice, by what the call's elements are known to cost; else so many,
 *           but at most as many as there are items and as the process has (cpu). No bit depends on
 *           it.
 * fp_events NULL, or where found floating-point events are or-ed in (guf_fp_event): those that
 *           `fp_report` names. Nothing is looked for that neither `fp_report` nor `fp_fail` names,
 *           and looking costs a pass over operands and results. Where the work is queued (with a
 *           stream; with operands in device memory also without) the word is written when it is
 *           done, and must live until then. Elements that a mask leaves out have no events; casts
 *           of operands and results have none either.
 * fp_fail   events that fail the call with GUF_E_FLOATING_POINT; outputs are then written. */
typedef struct guf_call_args {
  uint32_t struct_size;
  uint32_t flags; /* guf_call_flag */
  int32_t ninputs;
  int32_t noutputs;
  const guf_operand *inputs;
  guf_operand *outputs;
  const guf_operand *where;
  guf_stream stream;
  guf_device device;
  int32_t casting; /* guf_casting */
  int32_t order;   /* guf_order */
  guf_dtype dtype;
  int32_t nsignature;
  const guf_dtype *signature;
  const int64_t *axes;
  const int64_t *axis;
  const guf_dim *dims;
  int32_t naxes;
  int32_t ndims;
  int32_t host_policy; /* guf_host_policy */
  uint32_t threads;
  uint32_t *fp_events;
  uint32_t fp_report; /* guf_fp_event */
  uint32_t fp_fail;   /* guf_fp_event */
} guf_call_args;

/** What a call would do: the loop's types and each operand's shape. What output_shapes has behind
 * the `output_ndims` numbers of an output is left as it was. */
typedef struct guf_resolution {
  uint32_t struct_size;
  uint32_t loop; /* index for guf_ufunc_loop_types */
  int32_t noperands;
  uint32_t reserved;
  guf_dtype loop_dtypes[GUF_MAX_OPERANDS]; /* what the loop computes in */
  guf_dtype dtypes[GUF_MAX_OPERANDS];      /* of the operands; outputs to allocate included */
  int32_t output_ndims[GUF_MAX_OPERANDS];
  int64_t output_shapes[GUF_MAX_OPERANDS][GUF_MAX_NDIM]; /* by output index */
} guf_resolution;

/** Applies a ufunc. Complete on return when an operand lies in host memory and, on the cpu, when
 * `stream` is NULL. Else the work is queued, with a NULL stream in the device's own order
 * (guf_device_synchronize): arrays are kept alive by the library, tensors by the caller.
 * Errors  GUF_E_HANDLE <= ufunc, stream, device, an array
 *         GUF_E_STRUCT <= args->struct_size;  GUF_E_ARG <= counts, kinds, flags, NULL pointers;
 *                         unknown enum values
 *         GUF_E_DTYPE <= args->dtype, a type of args->signature, of a tensor or of a scalar is
 *                        none; a swapped record
 *         GUF_E_NO_LOOP, GUF_E_CASTING, GUF_E_OVERFLOW <= types (NumPy's texts)
 *         GUF_E_SHAPE <= broadcasting, core dimensions, output shapes, rules (NumPy's texts); a
 *                        size that the ufunc's core_dims hook gives or changes
 *         any error <= that hook's, with its text;  GUF_E_LOOP <= it returned no error status
 *         GUF_E_AXIS, GUF_E_READ_ONLY
 *         GUF_E_OVERLAP <= an output overlaps itself, or two outputs of inout operands overlap
 *         GUF_E_VALUE <= negative integer power, a rule's value
 *         GUF_E_FLOATING_POINT <= an event that fp_fail names (NumPy's texts)
 *         GUF_E_NO_IMAGE <= no kernel for the device;  GUF_E_DEVICE_MISMATCH
 *         GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_LOOP, GUF_E_LAUNCH, GUF_E_SHUTDOWN,
 *         GUF_E_FORKED
 *         Outputs are untouched after every error but the last line's, GUF_E_VALUE of a loop and
 *         GUF_E_FLOATING_POINT.
 * On a stream of the cpu the work is queued, unless it is known to be short: then an idle stream
 * may run it before the call returns. A loop without GUF_LOOP_ANY_THREAD runs in a call of the
 * program.
 *
 * Whatever the caller's thread has set, results are those of the default floating-point control
 * (rounding to nearest, subnormal numbers kept, no traps), and the thread has its own control
 * again when a function of this library returns; exception flags that arithmetic on this thread
 * raises stay raised. errno and the signal mask stay as they were. No function is a cancellation
 * point: pthread_cancel takes effect afterwards. A loop that throws fails its call with
 * GUF_E_LOOP; it must not end its thread or jump out of the call.
 * [mt-object]: outputs must not be used by others meanwhile. Allocates only outputs and, for
 * overlap, copies.
 * Stack: a call, a method, a plan's preparation and a question about one need up to 256 KiB of the
 * calling thread's stack, besides what the program's own loops and hooks use. */
GUF_API guf_status guf_call(guf_ufunc ufunc, guf_call_args *args, guf_error *error);

/** What guf_call would do, without doing it. Reads no element but those of value rules.
 * Errors  as guf_call's before the launch;  GUF_E_ARG <= out_resolution is NULL
 * [mt] [no-block] */
GUF_API guf_status guf_resolve(guf_ufunc ufunc, const guf_call_args *args,
                               guf_resolution *out_resolution, guf_error *error);

/** The same as text: what guf_plan_explain says of a plan for this call, without one. Outputs may
 * be missing as for guf_call: nothing is allocated, they are marked "to allocate". A call copies
 * what a plan stages through its workspace.
 * In/out  *inout_length: capacity of `text` on entry, needed length with the NUL on return.
 * Errors  as guf_call's before the launch;  GUF_E_ARG <= inout_length is NULL, or text with a
 *         capacity;  GUF_E_BUFFER_TOO_SMALL <= text (untouched) cannot hold it
 * [mt] [no-block] */
GUF_API guf_status guf_explain(guf_ufunc ufunc, const guf_call_args *args, char *text,
                               uint64_t *inout_length, guf_error *error);

/* ------------------------------------------------------------------ plans */

typedef struct guf_plan_s *guf_plan;

/** Prepares a call for operands of these dtypes, shapes and strides: every decision is made here.
 * The operands' addresses are not kept, but how they overlap is: each pair is disjoint, the same
 * view, or staged through the workspace. All outputs must be given; scalars are kept by value.
 * Inout operands of a signature without outputs are written in place (GUF_E_UNSUPPORTED with
 * outputs of their own). Operands in host memory that the device cannot read are refused too.
 * Ownership  one reference for the caller; keeps the ufunc's loops and modules.
 * Errors     as guf_call's before the launch;  GUF_E_ARG <= an output is GUF_OPERAND_NONE, or
 *            out_plan is NULL;  GUF_E_UNSUPPORTED <= fp_report or fp_fail: plans look for no events
 * [mt] */
GUF_API guf_status guf_plan_create(guf_ufunc ufunc, const guf_call_args *args, guf_plan *out_plan,
                                   guf_error *error);

/** Errors  GUF_E_HANDLE <= plan (NULL is allowed and does nothing)   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_plan_retain(guf_plan plan, guf_error *error);
GUF_API guf_status guf_plan_release(guf_plan plan, guf_error *error);

/** Bytes and alignment of the scratch memory that one launch needs, on the plan's device; 0 bytes:
 * none.
 * Errors  GUF_E_ARG, GUF_E_HANDLE   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_plan_workspace(guf_plan plan, uint64_t *out_nbytes, uint64_t *out_alignment,
                                      guf_error *error);

/** Launches a plan on operands at `addresses`: one per operand in the order inputs, outputs (a
 * scalar's is ignored), and the mask's last when the plan was made with where=. Addresses may be
 * unaligned. One plan may be launched from many threads at once, each with its own
 * outputs and workspace.
 * Errors  GUF_E_HANDLE;  GUF_E_ARG <= naddresses, a NULL address with items, workspace 0 where one
 *         is needed
 *         GUF_E_PLAN_MISMATCH <= addresses overlap in another way than the plan assumes
 *         GUF_E_DEVICE_MISMATCH <= the stream's device;  GUF_E_LOOP, GUF_E_VALUE, GUF_E_LAUNCH
 *         GUF_E_CAPTURE <= the stream is captured, and operands have to pass through memory of the
 *                          library's; or the loop may fail (integer power, functions with failure=)
 *                          and the program captures with its vendor's functions
 * [mt] [capture-safe] but for these; [no-alloc] with a NULL stream, else the library notes what to
 * keep alive; blocks only on cpu with a NULL stream: until the result is there. */
GUF_API guf_status guf_plan_launch(guf_plan plan, guf_stream stream, int32_t naddresses,
                                   const uint64_t *addresses, uint64_t workspace, guf_error *error);

/** Text of what the plan does and why: loop, kernel, casts, loop dimensions, other candidates'
 * refusals, and how the backend runs it on operands that lie as those did when it was made.
 * In/out  *inout_length: capacity of `text` on entry, needed length with the NUL on return.
 * Errors  GUF_E_ARG, GUF_E_HANDLE;  GUF_E_BUFFER_TOO_SMALL <= text (untouched) cannot hold it
 * [mt] [no-block] */
GUF_API guf_status guf_plan_explain(guf_plan plan, char *text, uint64_t *inout_length,
                                    guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_CALL_H */
