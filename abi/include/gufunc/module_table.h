/* SPDX-License-Identifier: Apache-2.0
 * The one table that describes kernels: what gufcc writes into a module, what a backend returns as
 * its standard library. Constant data; the library reads it and never writes. */
#ifndef GUFUNC_MODULE_TABLE_H
#define GUFUNC_MODULE_TABLE_H

#include "dtype.h"
#include "limits.h"

GUF_BEGIN_DECLS

/** Version of the kernels' calling convention: layout of launch blocks and meaning of entries. */
enum guf_kernel_abi { GUF_KERNEL_ABI = 1 };

/** A host loop with NumPy's inner-loop signature. `args`: one address per operand, inputs first.
 * Elementwise: `dims[0]` items, `steps[i]` the byte stride of operand i.
 * Generalized: `dims[0]` items, then one size per distinct core dimension in order of first use (a
 * missing optional dimension is 1); `steps`: one outer stride per operand, then the core strides of
 * each operand in turn (0 for a missing optional dimension). Strides are signed bytes. A loop
 * writes every item of its outputs: what one that it leaves out holds afterwards is open. */
typedef void (*guf_loop_numpy)(char **args, const int64_t *dims, const int64_t *steps, void *user);

/** The same, and may fail: returns GUF_OK or an error status, which the call reports. */
typedef guf_status (*guf_loop_status)(char **args, const int64_t *dims, const int64_t *steps,
                                      void *user);

/** The same, and says what went wrong. `error` is never NULL: a record of its own for each run,
 * with no message, argument or axis. With an error status the message, argument (the operand at
 * fault), axis and native code that the loop writes are the call's; without a message it is told
 * as that of a guf_loop_status is. */
typedef guf_status (*guf_loop_error)(char **args, const int64_t *dims, const int64_t *steps,
                                     void *user, guf_error *error);

enum guf_image_format {
  GUF_IMAGE_HOST = 1,     /* functions of this process: `entries`, one per kernel */
  GUF_IMAGE_CUBIN = 2,    /* NVIDIA machine code for one architecture */
  GUF_IMAGE_PTX = 3,      /* NVIDIA PTX, compiled by the driver */
  GUF_IMAGE_HSACO = 4,    /* AMD code object (raw ELF) for one target */
  GUF_IMAGE_SPIRV = 5,    /* SPIR-V */
  GUF_IMAGE_OPENCL_BC = 6 /* LLVM bitcode for OpenCL */
};

enum guf_image_codec { GUF_CODEC_NONE = 0, GUF_CODEC_ZSTD = 1 };

/** Role of an operand; 0 in a function without outputs means `in`. */
enum guf_role { GUF_ROLE_IN = 0, GUF_ROLE_OUT = 1, GUF_ROLE_INOUT = 2 };

/** Identity of a reduction. */
enum guf_identity {
  GUF_IDENTITY_NONE = 0,        /* no identity, order matters */
  GUF_IDENTITY_REORDERABLE = 1, /* no identity, axes may be taken in any order */
  GUF_IDENTITY_ZERO = 2,
  GUF_IDENTITY_ONE = 3,
  GUF_IDENTITY_MINUS_ONE = 4,
  GUF_IDENTITY_MINUS_INF = 5
};

enum guf_function_flag {
  GUF_FUNCTION_INPLACE_SAFE = 1u << 0, /* a generalized function that may write the view it reads */
  GUF_FUNCTION_COMMUTATIVE = 1u << 1,
  GUF_FUNCTION_ASSOCIATIVE = 1u << 2,
  GUF_FUNCTION_FAST = 1u << 3, /* compiled with contraction; results may differ between backends */
  GUF_FUNCTION_UNDERFLOWS = 1u << 4, /* a tiny result is one that was rounded: * / exp power */
  GUF_FUNCTION_DIVIDES = 1u << 5,    /* the last input is a divisor */
  GUF_FUNCTION_TAKES_NONE = 1u << 6  /* the leaf of a reduction: also of no element */
};

enum guf_loop_kind {
  GUF_LOOP_NUMPY = 1,  /* entry is a guf_loop_numpy */
  GUF_LOOP_STATUS = 2, /* entry is a guf_loop_status */
  GUF_LOOP_ERROR = 3   /* a guf_loop_error: of host loops; no kernel of a module's table is one */
};

/** What a fold entry is asked for, in dims[0]. A fold entry belongs to a loop (X, X) -> X and has
 * the signature guf_loop_numpy (guf_loop_status where the loop has). That of a function that is not
 * both associative and commutative knows SCAN and AT only. Of the others the accumulator type A is
 * X, but f32 where X is f16 or bf16: partial results are rounded once, at the end.
 *
 *   LEAVES  args in (X), out (A);  dims: rows, n;  steps: in row, in element, out row.
 *           out[r] = the leaf of row r (docs/reductions.md). 0 < n <= 128; any n > 0 for integers,
 *           where every order has the same bits, if a row's elements follow each other.
 *   JOIN    args a, b, out (A);  dims: n;  steps: a, b, out.  out[i] = a[i] op b[i]. out may be a
 *           or b itself.
 *   SCAN    args in, out, before (X; `before` may be NULL);  dims: rows, n;  steps: in row, in
 *           element, out row, out element, before row.  out[r][i] = the left fold of before[r]
 *           (where there is one) and in[r][0..i], rounded to X at every step. n > 0. out may be in
 *           itself; an out element step of 0 leaves the last.
 *   LOAD    args in (X), out (A);  dims: n;  steps: in, out.
 *   STORE   args in (A), out (X);  dims: n;  steps: in, out.
 *   AT      args array, operand (X), places, operands (int64_t: bytes from array, from operand);
 *           dims: n.  array[places[i]] = array[places[i]] op operand[operands[i]], one after the
 *           other. */
enum guf_fold {
  GUF_FOLD_LEAVES = 1,
  GUF_FOLD_JOIN = 2,
  GUF_FOLD_SCAN = 3,
  GUF_FOLD_LOAD = 4,
  GUF_FOLD_STORE = 5,
  GUF_FOLD_AT = 6
};

enum { GUF_LEAF_SIZE = 128, GUF_SCAN_TILE = 256 };

/** A type loop of a function. `types` holds one dtype per operand, inputs first. `kernel` indexes
 * the entries of a host image and `names` the symbol stem in device images ("guf_ew_add_ff_f"; the
 * entries are stem_row, stem_nd, ...). */
typedef struct guf_module_loop {
  const guf_dtype *types;
  const char *name;
  uint32_t kernel;
  int32_t kind;    /* guf_loop_kind */
  uint32_t fold;   /* 1 + index of the loop's fold entry; 0: none */
  uint32_t family; /* of the device images that have the loop's entries; 0: every one has them */
} guf_module_loop;

/** A function: a ufunc (`signature` NULL) or generalized ufunc. */
typedef struct guf_module_function {
  const char *name;
  const char *signature; /* NULL: elementwise */
  const char *rules;     /* NULL, or rules beside the signature: "n=value(1); p=m+1" */
  const int32_t *roles;  /* NULL, or one guf_role per operand */
  const char *doc;       /* one line, or NULL */
  int32_t nin, nout;
  int32_t identity; /* guf_identity */
  uint32_t flags;   /* guf_function_flag */
  uint32_t nloops;
  /* A reduction's leaf: 1 + index of the function that merges two states, and of the one that makes
   * results of a state (guf_reduction_desc); 0: none. */
  uint16_t merge, finish;
  const guf_module_loop *loops;
  const char *failure; /* NULL, or what a failure of its GUF_LOOP_STATUS loops says to the caller */
} guf_module_function;

/** Code for one target. Host images name their ISA level ("x86-64-v3") and carry `entries`: one
 * function per kernel. Device images carry bytes: `bytes` of them, from `offset` of what `data`
 * inflates to. Several images may share one frame: the same data, size and inflated_size. What a
 * plugin's module_load receives is one plain image: codec 0, offset 0, a NUL byte behind it. */
typedef struct guf_module_image {
  int32_t format; /* guf_image_format */
  int32_t codec;  /* guf_image_codec */
  const char *target;
  const void *data;             /* device images */
  uint64_t size;                /* bytes of `data` */
  uint64_t inflated_size;       /* bytes after decompression; codec 0: 0 or `size` */
  void (*const *entries)(void); /* host images: nkernels functions, cast to their loop kind */
  uint64_t offset, bytes;       /* device images; both 0: all that is there */
  uint32_t family;              /* 0: it serves every loop; else those of this family */
  uint32_t reserved;
} guf_module_image;

enum guf_parameter_kind {
  GUF_PARAMETER_NUMBER = 1,  /* one element, by value */
  GUF_PARAMETER_POINTER = 2, /* the first element of a C-contiguous array */
  GUF_PARAMETER_VIEW = 3 /* address, extents and byte strides of an array of `ndim` dimensions */
};

enum guf_parameter_flag { GUF_PARAMETER_READ_ONLY = 1u << 0 /* of an array: it is not written */ };

/** A parameter of a raw kernel, behind its guf::block. */
typedef struct guf_module_parameter {
  int32_t kind; /* guf_parameter_kind */
  guf_dtype dtype;
  int32_t ndim;   /* of a view: 0..GUF_MAX_LOOP_NDIM; else 0 */
  uint32_t flags; /* guf_parameter_flag */
} guf_module_parameter;

/** All of a kernel's: `count` of them, at most GUF_MAX_KERNEL_PARAMETERS. `block_bytes` is the size
 * of what a launch passes by value: a guf_kernel_head, then the arguments in order, each at a
 * multiple of 8 bytes. A number takes its size, rounded up; a pointer 8 bytes; a view its address,
 * its extents and its strides. */
typedef struct guf_module_parameters {
  uint32_t count;
  uint32_t block_bytes;
  const guf_module_parameter *list;
} guf_module_parameters;

/** What stands before the arguments of a launch. */
typedef struct guf_kernel_head {
  uint32_t grid[3];      /* blocks */
  uint32_t block[3];     /* threads of each */
  uint32_t shared_bytes; /* of each */
  uint32_t reserved;     /* 0 */
} guf_kernel_head;

enum guf_module_kernel_flag {
  GUF_MODULE_KERNEL_SYNCHRONISES = 1u << 0 /* its threads may wait for one another */
};

/** A raw kernel. A host image has a function void (guf::device::work_item *, const void *) for it
 * (gufunc/kernel/work_item.hpp), a device image an entry `symbol`. */
typedef struct guf_module_kernel {
  const char *name;
  const char *symbol; /* "guf_rk_matmul" */
  const char *doc;    /* one line, or NULL */
  const guf_module_parameters *parameters;
  uint32_t kernel;       /* index into the entries of a host image */
  uint32_t family;       /* as a loop's */
  uint32_t max_threads;  /* of a block */
  uint32_t shared_bytes; /* that every launch gives each block, besides its own */
  uint32_t flags;        /* guf_module_kernel_flag */
  uint32_t reserved;     /* 0 */
} guf_module_kernel;

/** The whole table. A module exports `gufunc_module_v1_<name>`, and as a shared object also the
 * alias `gufunc_module_v1`. */
typedef struct guf_module_v1 {
  uint32_t struct_size; /* sizeof(guf_module_v1) of the writer */
  uint32_t kernel_abi;  /* GUF_KERNEL_ABI of the writer */
  const char *name;
  uint32_t nfunctions;
  uint32_t nimages;
  uint32_t nkernels;     /* entries of a host image */
  uint32_t nraw_kernels; /* in `raw_kernels` */
  const guf_module_function *functions;
  const guf_module_image *images;
  const guf_module_kernel *raw_kernels; /* a table whose struct_size ends before it has none */
} guf_module_v1;

GUF_END_DECLS

#endif /* GUFUNC_MODULE_TABLE_H */
