/* SPDX-License-Identifier: Apache-2.0
 * Ufuncs and generalized ufuncs: finding, describing, creating, adding loops; modules that bring
 * them. */
#ifndef GUFUNC_UFUNC_H
#define GUFUNC_UFUNC_H

#include "array.h"
#include "module_table.h"

GUF_BEGIN_DECLS

typedef struct guf_ufunc_s *guf_ufunc;
typedef struct guf_module_s *guf_module;

/* Names. The standard library's names are plain ("add"). A module's names are "module:name"; the
 * short name finds them too while it is unique in the context. A loop whose input types are exactly
 * the call's comes first; else loops are tried in the order they were added. */

typedef struct guf_ufunc_info {
  uint32_t struct_size;
  int32_t nin, nout;
  int32_t identity; /* guf_identity */
  uint32_t flags;   /* guf_function_flag */
  uint32_t nloops;
  char name[128];       /* with the module's name and ':' for a module's ufunc */
  char signature[1024]; /* "" for an elementwise ufunc; cut when longer */
  char rules[256];
  char doc[256];
  int32_t roles[GUF_MAX_OPERANDS]; /* guf_role, of nin + nout operands */
  int32_t nresults; /* of guf_reduce, for a reduction with a state; 0 for all other ufuncs */
  char merge[128];  /* its parts, named as `name` is; "" where there is none. The results have */
  char finish[128]; /* the types that finish gives for a state; without it the state's own */
} guf_ufunc_info;

/** Runs once when the library will not touch `user` again; thread rule as guf_release_fn. */
typedef void (*guf_destroy_fn)(void *user);

/** Sees the core dimensions of every call of a generalized ufunc, and may refuse it: NumPy's
 * process_core_dims_func. `inout_sizes` has one size per distinct dimension in order of first use:
 * what inputs, frozen sizes, dims=, rules and given outputs say, 1 for an optional dimension that
 * is missing, -1 where nothing says it. The hook may fill a -1; all else must stay. It refuses by
 * an error status, and `error` (never NULL) takes its text: the call's failure. Runs on the
 * caller's thread, before anything is allocated or launched, on several threads at once; it must
 * not call the library. It is asked each time: nothing it said is kept. */
typedef guf_status (*guf_core_dims_fn)(int32_t ndims, int64_t *inout_sizes, void *user,
                                       guf_error *error);

/** Describes a ufunc to create. */
typedef struct guf_ufunc_desc {
  uint32_t struct_size;
  int32_t nin, nout;          /* with a signature: 0, 0 or equal to it */
  int32_t identity;           /* guf_identity */
  uint32_t flags;             /* guf_function_flag */
  int32_t nroles;             /* 0, or nin + nout */
  const char *name;           /* [A-Za-z_][A-Za-z0-9_]*, at most GUF_MAX_NAME characters */
  const char *signature;      /* NULL: elementwise. NumPy's grammar, "|1", no arrow: no outputs */
  const char *rules;          /* NULL, or rules beside the signature: "n=value(1); p=m+1" */
  const int32_t *roles;       /* NULL, or one guf_role per operand */
  const char *doc;            /* NULL, or one line */
  guf_core_dims_fn core_dims; /* NULL, or the hook for the sizes of core dimensions */
  void *user;                 /* the hook's */
  guf_destroy_fn destroy;     /* NULL allowed; never runs when creating fails */
} guf_ufunc_desc;

enum guf_loop_flag {
  GUF_LOOP_ANY_THREAD = 1u << 0 /* the loop may run on any thread, several at once */
};

/** A loop to add. Exactly one of `numpy`, `status` and `error` is set, by `kind`. */
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
  guf_destroy_fn destroy; /* NULL allowed; never runs when adding fails */
} guf_loop_desc;

/** Creates a ufunc without loops and registers its name in the context.
 * Ownership  one reference for the caller; the context keeps another, so it stays findable.
 * Errors     GUF_E_ARG       <= desc, its name or out_ufunc is NULL; name malformed or too long;
 *                               counts negative or above GUF_MAX_OPERANDS; unknown flags, identity
 *                               or role; core_dims without a signature, user or destroy without
 *                               core_dims
 *            GUF_E_STRUCT, GUF_E_HANDLE
 *            GUF_E_SIGNATURE <= signature or rules malformed; the message gives the position
 *            GUF_E_EXISTS    <= the name is taken;  GUF_E_NO_MEMORY
 * [mt] [no-block] */
GUF_API guf_status guf_ufunc_create(guf_context context, const guf_ufunc_desc *desc,
                                    guf_ufunc *out_ufunc, guf_error *error);

/** Finds a ufunc by name.
 * Ownership  one reference for the caller.
 * Errors     GUF_E_ARG <= name or out_ufunc is NULL;  GUF_E_HANDLE
 *            GUF_E_NOT_FOUND <= no such name (the message names the nearest), or a short name that
 *                               several modules have   [mt] [no-block] */
GUF_API guf_status guf_ufunc_find(guf_context context, const char *name, guf_ufunc *out_ufunc,
                                  guf_error *error);

/** Errors  GUF_E_HANDLE <= ufunc (NULL is allowed and does nothing)   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_ufunc_retain(guf_ufunc ufunc, guf_error *error);
GUF_API guf_status guf_ufunc_release(guf_ufunc ufunc, guf_error *error);

/** How many ufuncs the context knows, and the full name of one, sorted by name. A registration
 * between two calls may shift indices.
 * Errors  GUF_E_ARG, GUF_E_HANDLE;  GUF_E_INDEX <= index;  GUF_E_BUFFER_TOO_SMALL <= capacity
 * [mt] [no-block] */
GUF_API guf_status guf_ufunc_count(guf_context context, uint32_t *out_count, guf_error *error);
GUF_API guf_status guf_ufunc_name_at(guf_context context, uint32_t index, char *name,
                                     uint64_t capacity, guf_error *error);

/** Errors  GUF_E_ARG, GUF_E_HANDLE, GUF_E_STRUCT   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_ufunc_get_info(guf_ufunc ufunc, guf_ufunc_info *out_info, guf_error *error);

/** The types of loop `index`, in the order loops are tried: nin + nout dtypes.
 * Errors  GUF_E_ARG, GUF_E_HANDLE;  GUF_E_INDEX <= index;
 *         GUF_E_BUFFER_TOO_SMALL <= ntypes is below nin + nout   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_ufunc_loop_types(guf_ufunc ufunc, uint32_t index, int32_t ntypes,
                                        guf_dtype *out_types, guf_error *error);

/** Adds a host loop. A call sees the ufunc's loops before or after, never between.
 * Errors  GUF_E_ARG <= desc, its types or function is NULL, kind, flags, ntypes;  GUF_E_STRUCT,
 *                      GUF_E_HANDLE
 *         GUF_E_DTYPE <= a type;  GUF_E_EXISTS <= a loop with these input types exists;
 *                        GUF_E_NO_MEMORY
 * [mt] [no-block] */
GUF_API guf_status guf_ufunc_add_loop(guf_ufunc ufunc, const guf_loop_desc *desc, guf_error *error);

/** Adds a module's kernel as a loop: `function`'s loop with exactly these types, whose signature
 * must be equal.
 * Errors  GUF_E_ARG, GUF_E_HANDLE;  GUF_E_NOT_FOUND <= no such function or types in the module;
 *         GUF_E_SIGNATURE <= signatures differ;  GUF_E_EXISTS;  GUF_E_NO_MEMORY
 * [mt] [no-block] */
GUF_API guf_status guf_ufunc_add_module_loop(guf_ufunc ufunc, guf_module module,
                                             const char *function, int32_t ntypes,
                                             const guf_dtype *types, guf_error *error);

/** What makes a generalized ufunc a reduction with a state: of several values, such as the greatest
 * element and its index.
 *
 * The ufunc itself, the leaf, makes a state, its outputs, of the elements of one leaf. Its
 * signature is (n)->(),... or (n),()->(),... or (n),(),(n)->(),... : the elements; the number of
 * the first one in C order over the folded axes, int64; a mask of those that take part, bool.
 * merge   a ufunc without signature: two states in, the left one first, one state out. The library
 *         gives it an output that is its left state. It is called with exactly the leaf's types.
 * finish  NULL: the state is the result. Else a ufunc without signature: a state in, results out.
 *
 * With GUF_FUNCTION_TAKES_NONE the leaf also makes a state of no element (n is 0, or all are masked
 * off), which merge must know: then empty axes and where= are allowed. */
typedef struct guf_reduction_desc {
  uint32_t struct_size;
  uint32_t flags; /* 0 */
  guf_ufunc merge;
  guf_ufunc finish;
} guf_reduction_desc;

/** Makes `ufunc` a reduction: guf_reduce then takes it. Once; what it refers to is kept with it.
 * Loops may be added to all three at any time.
 * Errors  GUF_E_ARG <= desc or its merge is NULL, flags;  GUF_E_STRUCT, GUF_E_HANDLE
 *         GUF_E_SIGNATURE <= the signatures are no leaf's, merge's and finish's
 *         GUF_E_EXISTS <= it is one already;  GUF_E_NO_MEMORY
 * [mt] [no-block] */
GUF_API guf_status guf_ufunc_set_reduction(guf_ufunc ufunc, const guf_reduction_desc *desc,
                                           guf_error *error);

/* ------------------------------------------------------------------ modules */

enum guf_module_flag {
  GUF_MODULE_DATA_ONLY = 1u << 0 /* runs no code of the file: device images only, no cpu loops */
};

typedef struct guf_module_info {
  uint32_t struct_size;
  uint32_t nfunctions;
  uint32_t nimages;
  uint32_t flags; /* guf_module_flag */
  char name[64];
  char path[512];
  uint32_t nkernels; /* raw kernels: guf_module_kernel_at */
  uint32_t reserved;
} guf_module_info;

/** Loads a module file that gufcc made, checks its digest, and registers its ufuncs as
 * "module:name". Nothing of the file runs before the digest holds, and what is opened is a copy in
 * memory of what was checked: the file may change or go afterwards.
 * Ownership  one reference for the caller; its ufuncs, loops and plans keep the module too. It is
 *            unmapped when none is left. Loading the same file again gives the same module. Its
 *            names are found as long.
 * Errors     GUF_E_ARG <= path or out_module is NULL, unknown flags;  GUF_E_HANDLE
 *            GUF_E_IO <= the file cannot be opened, read or copied
 *            GUF_E_UNTRUSTED <= the process is privileged and owner or mode are not acceptable
 *            GUF_E_BAD_FILE <= no module, damaged (the digest differs), too large in memory, or its
 *                              table breaks the rules
 *            GUF_E_ABI <= another kernel ABI;  GUF_E_EXISTS <= a module of that name is loaded;
 *                         GUF_E_NO_MEMORY
 * [mt], reads the disk */
GUF_API guf_status guf_module_load(guf_context context, const char *path, uint32_t flags,
                                   guf_module *out_module, guf_error *error);

/** Registers a module that is linked into the program. `table` and all it points to must live for
 * ever.
 * Errors  GUF_E_ARG, GUF_E_HANDLE, GUF_E_STRUCT;  GUF_E_BAD_FILE, GUF_E_ABI, GUF_E_EXISTS,
 *         GUF_E_NO_MEMORY as above
 * [mt] [no-block] */
GUF_API guf_status guf_module_register(guf_context context, const guf_module_v1 *table,
                                       guf_module *out_module, guf_error *error);

/** Errors  GUF_E_HANDLE <= module (NULL is allowed and does nothing)
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_module_retain(guf_module module, guf_error *error);
GUF_API guf_status guf_module_release(guf_module module, guf_error *error);

/** Errors  GUF_E_ARG, GUF_E_HANDLE, GUF_E_STRUCT   [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_module_get_info(guf_module module, guf_module_info *out_info,
                                       guf_error *error);

/** Full name ("module:function") of a module's function, to find it with guf_ufunc_find.
 * Errors  GUF_E_ARG, GUF_E_HANDLE;  GUF_E_INDEX <= index;  GUF_E_BUFFER_TOO_SMALL
 * [mt] [no-block] [no-alloc] */
GUF_API guf_status guf_module_function_at(guf_module module, uint32_t index, char *name,
                                          uint64_t capacity, guf_error *error);

GUF_END_DECLS

#endif /* GUFUNC_UFUNC_H */
