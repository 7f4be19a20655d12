/* SPDX-License-Identifier: Apache-2.0
 * Ufuncs and generalized ufuncs: find, describe and create them, and add loops. */
#ifndef GUFUNC_UFUNC_H
#define GUFUNC_UFUNC_H

#include "array.h"
#include "module_table.h"

GUF_BEGIN_DECLS

typedef struct guf_ufunc_s *guf_ufunc;
typedef struct guf_module_s *guf_module;

/* Names. Ufuncs of the standard library have plain names ("add"). Ufuncs of a module are named
 * "module:name"; the name without "module:" also finds such a ufunc if it is unique in the context.
 * Choice of a loop: a loop whose input dtypes equal the dtypes of the call has priority. Else the
 * loops are tried in the order in which they were added. */

/** Properties of a core dimension. */
enum guf_core_dim_flag {
  GUF_CORE_DIM_OPTIONAL = 1u << 0,     /* "n?": operands may lack the dimension */
  GUF_CORE_DIM_BROADCASTABLE = 1u << 1 /* "n|1": an operand may have extent 1 */
};

typedef struct guf_ufunc_info {
  uint32_t struct_size;
  int32_t nin, nout;
  int32_t identity; /* guf_identity */
  uint32_t flags;   /* guf_function_flag */
  uint32_t nloops;
  char name[128];       /* full name, "module:name" for a ufunc of a module */
  char signature[1024]; /* "" for an elementwise ufunc; truncated if it is longer */
  char rules[256];
  char doc[256];
  int32_t roles[GUF_MAX_OPERANDS]; /* guf_role, of nin + nout operands */
  int32_t nresults; /* number of results of guf_reduce if the ufunc has a user-defined accumulator;
                       else 0 */
  char merge[128];  /* full name of the merge ufunc (guf_reduction_desc); "" if there is none */
  char finish[128]; /* full name of the finish ufunc; "" if the accumulator itself is the result */
  /* The core dimensions. Distinct core dimensions are numbered in order of their first use in the
   * signature. */
  int32_t ncore;                           /* distinct core dimensions; 0: elementwise */
  int32_t core_ndim[GUF_MAX_OPERANDS];     /* core dimensions of each operand */
  int32_t core_dims[GUF_MAX_CORE_STRIDES]; /* the numbers of each operand's core dimensions, one
                                              operand after the other */
  uint32_t core_flags[GUF_MAX_CORE_NAMES]; /* guf_core_dim_flag, by number */
  int64_t core_sizes[GUF_MAX_CORE_NAMES];  /* the fixed size, or -1; by number */
} guf_ufunc_info;

/** Called exactly once, when the library will not use `user` again. The function runs where a
 * guf_release_fn without GUF_RELEASE_ANY_THREAD runs: on a thread of the program, inside a call of
 * the library. */
typedef void (*guf_destroy_fn)(void *user);

/** Checks, completes or rejects the core dimensions of each call of a generalized ufunc, like
 * NumPy's process_core_dims_func.
 * `inout_sizes` has one size per distinct dimension in order of first use: the size that follows
 * from inputs, fixed sizes, dims=, rules and given outputs; 1 for an optional dimension that is
 * missing; -1 for an unknown size. The hook may replace a -1 and must not change other sizes. To
 * reject the call, the hook returns an error status and writes a message to `error`, which is never
 * NULL; the call then fails with this status and message. The hook runs on the caller's thread,
 * before anything is allocated or launched, possibly on several threads at the same time. It must
 * not call the library. The hook runs for each call; its results are not cached. */
typedef guf_status (*guf_core_dims_fn)(int32_t ndims, int64_t *inout_sizes, void *user,
                                       guf_error *error);

/** Description of a ufunc to create. All pointers are borrowed for the duration of the call, except
 * core_dims, user and destroy. */
typedef struct guf_ufunc_desc {
  uint32_t struct_size;
  int32_t nin, nout;          /* with a signature: both 0, or equal to the signature's counts */
  int32_t identity;           /* guf_identity */
  uint32_t flags;             /* guf_function_flag */
  int32_t nroles;             /* 0, or nin + nout */
  const char *name;           /* matches [A-Za-z_][A-Za-z0-9_]*, at most GUF_MAX_NAME characters */
  const char *signature;      /* NULL: elementwise. NumPy's grammar, with "|1"; without an arrow: no
                                 outputs */
  const char *rules;          /* NULL, or rules beyond the signature: "n=value(1); p=m+1" */
  const int32_t *roles;       /* NULL, or one guf_role per operand */
  const char *doc;            /* NULL, or one line */
  guf_core_dims_fn core_dims; /* NULL, or a hook that checks and completes core dimensions */
  void *user;                 /* passed to core_dims and destroy */
  guf_destroy_fn destroy;     /* may be NULL; is not called if guf_ufunc_create fails */
} guf_ufunc_desc;

enum guf_loop_flag {
  GUF_LOOP_ANY_THREAD = 1u << 0 /* the loop may run on any thread, and on several at once */
};

/** Description of a loop to add. `kind` selects which one of `numpy`, `status` and `error` is set;
 * the other two are NULL. */
typedef struct guf_loop_desc {
  uint32_t struct_size;
  int32_t kind;   /* guf_loop_kind */
  uint32_t flags; /* guf_loop_flag */
  int32_t ntypes; /* nin + nout */
  const guf_dtype *types;
  guf_loop_numpy numpy;
  guf_loop_status status;
  guf_loop_error error;
  void *user;
  guf_destroy_fn destroy; /* may be NULL; is not called if guf_ufunc_add_loop fails */
} guf_loop_desc;

/** Creates a ufunc without loops and registers its name in the context.
 * Ownership  the caller receives one reference. The context keeps another reference, so the name
 *            stays registered.
 * [mt] [no-block]
 * Errors     GUF_E_ARG       <= desc, its name or out_ufunc is NULL; the name is malformed or too
 *                               long; a count is negative, exceeds GUF_MAX_OPERANDS or differs from
 *                               the signature's; a flag, identity or role is unknown; core_dims is
 *                               set without a signature, or user or destroy without core_dims
 *            GUF_E_STRUCT    <= desc->struct_size is not valid
 *            GUF_E_HANDLE    <= context is not a live context
 *            GUF_E_SIGNATURE <= the signature or the rules are malformed, and the message contains
 *                               the position; or there are rules without a signature
 *            GUF_E_EXISTS    <= the name is already registered
 *            GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_ufunc_create(guf_context context, const guf_ufunc_desc *desc,
                                    guf_ufunc *out_ufunc, guf_error *error);

/** Finds a ufunc by name.
 * Ownership  the caller receives one reference.
 * [mt] [no-block]
 * Errors     GUF_E_ARG       <= name or out_ufunc is NULL
 *            GUF_E_HANDLE    <= context is not a live context
 *            GUF_E_NOT_FOUND <= no ufunc of that name, and the message suggests the nearest one; or
 *                               several modules have a ufunc of that short name */
GUF_API guf_status guf_ufunc_find(guf_context context, const char *name, guf_ufunc *out_ufunc,
                                  guf_error *error);

/** Adds or drops a reference.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_HANDLE <= ufunc is not a live ufunc (NULL is allowed and has no effect) */
GUF_API guf_status guf_ufunc_retain(guf_ufunc ufunc, guf_error *error);
GUF_API guf_status guf_ufunc_release(guf_ufunc ufunc, guf_error *error);

/** Returns the number of ufuncs in the context, and the full name of the ufunc at `index` in
 * alphabetical order. A registration between two calls may change indices. `capacity` is the size
 * of `name` in bytes.
 * [mt] [no-block]
 * Errors  GUF_E_ARG    <= out_count or name is NULL
 *         GUF_E_HANDLE <= context is not a live context
 *         GUF_E_INDEX  <= index is not below the number of ufuncs
 *         GUF_E_BUFFER_TOO_SMALL <= capacity is less than the name with its NUL */
GUF_API guf_status guf_ufunc_count(guf_context context, uint32_t *out_count, guf_error *error);
GUF_API guf_status guf_ufunc_name_at(guf_context context, uint32_t index, char *name,
                                     uint64_t capacity, guf_error *error);

/** Describes a ufunc.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_info is NULL
 *         GUF_E_HANDLE <= ufunc is not a live ufunc
 *         GUF_E_STRUCT <= out_info->struct_size is smaller than in the first version */
GUF_API guf_status guf_ufunc_get_info(guf_ufunc ufunc, guf_ufunc_info *out_info, guf_error *error);

/** Returns the nin + nout dtypes of the loop at `index`, in the order in which loops are tried.
 * `ntypes` is the number of elements of `out_types`.
 * [mt] [no-block] [no-alloc]
 * Errors  GUF_E_ARG    <= out_types is NULL
 *         GUF_E_HANDLE <= ufunc is not a live ufunc
 *         GUF_E_INDEX  <= index is not below the number of loops
 *         GUF_E_BUFFER_TOO_SMALL <= ntypes is less than nin + nout */
GUF_API guf_status guf_ufunc_loop_types(guf_ufunc ufunc, uint32_t index, int32_t ntypes,
                                        guf_dtype *out_types, guf_error *error);

/** Adds a host loop. The addition is atomic: a concurrent call uses either the loops before the
 * addition or the loops after it.
 * [mt] [no-block]
 * Errors  GUF_E_ARG       <= desc or its types is NULL; the function of `kind` is not set, or
 *                            another one is; an unknown kind or flag; ntypes is not nin + nout
 *         GUF_E_STRUCT    <= desc->struct_size is not valid
 *         GUF_E_HANDLE    <= ufunc is not a live ufunc
 *         GUF_E_DTYPE     <= an element of types is not a dtype
 *         GUF_E_EXISTS    <= the ufunc already has a loop with these input dtypes
 *         GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_ufunc_add_loop(guf_ufunc ufunc, const guf_loop_desc *desc, guf_error *error);

/** Adds a kernel of a module as a loop: the loop of `function` with exactly these dtypes. The
 * signatures of `function` and of the ufunc must be equal. The ufunc keeps the module loaded.
 * [mt] [no-block]
 * Errors  GUF_E_ARG       <= function or types is NULL, or ntypes is not nin + nout
 *         GUF_E_HANDLE    <= ufunc or module is not a live handle of its kind
 *         GUF_E_DTYPE     <= an element of types is not a dtype
 *         GUF_E_NOT_FOUND <= the module has no such function, or the function has no loop of these
 *                            dtypes
 *         GUF_E_SIGNATURE <= the signatures differ
 *         GUF_E_EXISTS    <= the ufunc already has a loop with these input dtypes
 *         GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_ufunc_add_module_loop(guf_ufunc ufunc, guf_module module,
                                             const char *function, int32_t ntypes,
                                             const guf_dtype *types, guf_error *error);

/** Description of a reduction with a user-defined accumulator. The accumulator may consist of
 * several values, such as the greatest element and its index.
 *
 * The generalized ufunc that becomes the reduction computes the accumulator of one base block from
 * the elements of the block. Its outputs are the values of the accumulator. Its signature is
 * (n)->(),... or (n),()->(),... or (n),(n)->(),... or (n),(),(n)->(),... . The first input is the
 * elements, an input () the index of the first element in C order over the reduced axes (int64),
 * and a second input (n) a mask of the elements to include (bool).
 * merge   a ufunc without a signature that combines two accumulators, the left one first, into one.
 *         The library calls merge in place: the output is the left accumulator. The loop of merge
 *         must have exactly the dtypes of the accumulator.
 * finish  NULL: the accumulator is the result. Else a ufunc without a signature that computes the
 *         results from an accumulator. Inputs that follow the accumulator are the parameters of
 *         guf_reduce_args. The loop of finish is the first whose first inputs have exactly the
 *         dtypes of the accumulator.
 *
 * With GUF_FUNCTION_ACCEPTS_EMPTY the ufunc also computes an accumulator of no elements (n is 0, or
 * the mask excludes all), which merge must accept. Empty axes and where= are then allowed.
 * With GUF_FUNCTION_KEEPS_PRECISION, results of f64 and c128 that guf_reduce allocates have the
 * precision of the elements: f64 becomes f16, bf16 or f32 if this is the dtype of the elements, and
 * f32 if their dtype is c64; c128 becomes c64 if the dtype of the elements is c64. */
typedef struct guf_reduction_desc {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  guf_ufunc merge;
  guf_ufunc finish;
} guf_reduction_desc;

/** Makes `ufunc` a reduction for guf_reduce. This is possible once per ufunc, which keeps merge and
 * finish alive. Loops may be added to all three ufuncs at any time.
 * [mt] [no-block]
 * Errors  GUF_E_ARG       <= desc or its merge is NULL, or flags is not 0
 *         GUF_E_STRUCT    <= desc->struct_size is not valid
 *         GUF_E_HANDLE    <= ufunc, merge or finish is not a live ufunc
 *         GUF_E_SIGNATURE <= the three ufuncs do not have the signatures of guf_reduction_desc
 *         GUF_E_EXISTS    <= ufunc is already a reduction
 *         GUF_E_NO_MEMORY <= a host allocation failed */
GUF_API guf_status guf_ufunc_set_reduction(guf_ufunc ufunc, const guf_reduction_desc *desc,
                                           guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_UFUNC_H */
