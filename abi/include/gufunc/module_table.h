/* SPDX-License-Identifier: Apache-2.0
 * The table that describes kernels. gufcc writes such a table into each module, and a backend
 * returns such a table for its standard library. The table is constant; the library only reads
 * it. */
#ifndef GUFUNC_MODULE_TABLE_H
#define GUFUNC_MODULE_TABLE_H

#include "dtype.h"
#include "limits.h"

GUF_BEGIN_DECLS

/** Version of the calling convention of kernels: the layout of launch blocks and the meaning of
 * entries. */
enum guf_kernel_abi { GUF_KERNEL_ABI = 1 };

/** A host loop with the signature of NumPy's inner loops. `args` has one address per operand,
 * inputs first.
 * Elementwise: `dims[0]` items; `steps[i]` is the byte stride of operand i.
 * Generalized: `dims[0]` items, then one size per distinct core dimension in order of first use (1
 * for an optional dimension that is missing). `steps` has one outer stride per operand, then the
 * core strides of each operand in turn (0 for an optional dimension that is missing). Strides are
 * signed byte distances. A loop must write every item of its outputs; an item that the loop does
 * not write has an unspecified value. */
typedef void (*guf_loop_numpy)(char **args, const int64_t *dims, const int64_t *steps, void *user);

/** A guf_loop_numpy that may fail: returns GUF_OK or an error status, which the call reports. */
typedef guf_status (*guf_loop_status)(char **args, const int64_t *dims, const int64_t *steps,
                                      void *user);

/** A guf_loop_status that can also describe its failure. `error` is never NULL. Each run of the
 * loop has its own structure, in which message, argument and axis are not set. If the loop returns
 * an error status, the call reports the message, argument (index of the operand that caused the
 * failure), axis and native code that the loop wrote. If the loop wrote no message, its failure is
 * reported like that of a guf_loop_status. */
typedef guf_status (*guf_loop_error)(char **args, const int64_t *dims, const int64_t *steps,
                                     void *user, guf_error *error);

enum guf_image_format {
  GUF_IMAGE_HOST = 1,     /* functions in this process: `entries`, one per kernel */
  GUF_IMAGE_CUBIN = 2,    /* NVIDIA machine code for one architecture */
  GUF_IMAGE_PTX = 3,      /* NVIDIA PTX, compiled by the driver */
  GUF_IMAGE_HSACO = 4,    /* AMD code object (raw ELF) for one target */
  GUF_IMAGE_SPIRV = 5,    /* SPIR-V */
  GUF_IMAGE_OPENCL_BC = 6 /* LLVM bitcode for OpenCL */
};

enum guf_image_codec { GUF_CODEC_NONE = 0, GUF_CODEC_ZSTD = 1 };

/** Role of an operand. In a function without outputs, 0 means `in`. */
enum guf_role { GUF_ROLE_IN = 0, GUF_ROLE_OUT = 1, GUF_ROLE_INOUT = 2 };

/** Identity of a reduction. */
enum guf_identity {
  GUF_IDENTITY_NONE = 0,        /* no identity; the order of elements matters */
  GUF_IDENTITY_REORDERABLE = 1, /* no identity; axes may be reduced in any order */
  GUF_IDENTITY_ZERO = 2,
  GUF_IDENTITY_ONE = 3,
  GUF_IDENTITY_MINUS_ONE = 4,
  GUF_IDENTITY_MINUS_INF = 5
};

enum guf_function_flag {
  GUF_FUNCTION_INPLACE_SAFE = 1u << 0, /* a generalized function that may write to the view that it
                                          reads */
  GUF_FUNCTION_COMMUTATIVE = 1u << 1,
  GUF_FUNCTION_ASSOCIATIVE = 1u << 2,
  GUF_FUNCTION_FAST = 1u << 3,       /* compiled with fp=fast or fp=vendor; results may differ
                                        between backends */
  GUF_FUNCTION_UNDERFLOWS = 1u << 4, /* a tiny result may have been rounded, so it raises
                                        GUF_FP_UNDERFLOW, as for * / exp power */
  GUF_FUNCTION_DIVIDES = 1u << 5,    /* the last input is a divisor */
  GUF_FUNCTION_ACCEPTS_EMPTY =
      1u << 6,                       /* the function also computes an accumulator of no elements */
  GUF_FUNCTION_OVERWRITES = 1u << 7, /* kernels of gufcc overwrite their first input: the library
                                        passes a copy of it, except to host loops that make a copy
                                        of each item themselves */
  GUF_FUNCTION_KEEPS_PRECISION =
      1u << 8 /* results of f64 and c128 that guf_reduce allocates have the precision of the
                 elements */
};

enum guf_loop_kind {
  GUF_LOOP_NUMPY = 1,  /* entry is a guf_loop_numpy */
  GUF_LOOP_STATUS = 2, /* entry is a guf_loop_status */
  GUF_LOOP_ERROR = 3   /* entry is a guf_loop_error; only for host loops, never in a module's
                          table */
};

/** Operations of a fold entry. dims[0] selects the operation; the sizes that are listed below as
 * dims follow from dims[1] on. A fold entry belongs to a loop (X, X) -> X and has the signature of
 * guf_loop_numpy (guf_loop_status if the loop's kind is GUF_LOOP_STATUS). The fold entry of a
 * function that is not both associative and commutative supports only SCAN and AT. For any other
 * function the accumulator has type A: f32 if X is f16 or bf16, and X otherwise. With A = f32, the
 * result is rounded to X once, at the end. An operation on rows is applied to each of `rows` rows
 * of n elements; the step "in row" is the stride of `in` between rows, "in element" the stride
 * within a row.
 *
 *   LEAVES  args in (X), out (A);  dims: rows, n;  steps: in row, in element, out row.
 *           out[r] = the reduction of the base block in row r (docs/reductions.md). 0 < n <= 128.
 *           For integers, whose result does not depend on the order, any n > 0 is allowed if the
 *           elements of a row are contiguous.
 *   JOIN    args a, b, out (A);  dims: n;  steps: a, b, out.  out[i] = a[i] op b[i]. `out` may
 *           equal a or b.
 *   SCAN    args in, out, before (X; `before` may be NULL);  dims: rows, n;  steps: in row, in
 *           element, out row, out element, before row.  out[r][i] = the left fold of before[r]
 *           (unless NULL) and in[r][0..i], rounded to X at every step. n > 0. `out` may equal `in`;
 *           if the out element step is 0, only the last value remains.
 *   LOAD    args in (X), out (A);  dims: n;  steps: in, out.
 *   STORE   args in (A), out (X);  dims: n;  steps: in, out.
 *   AT      args array, operand (X), offsets, operands (int64_t: byte offsets from array and from
 *           operand);  dims: n.
 *           array[offsets[i]] = array[offsets[i]] op operand[operands[i]], in order of i. */
enum guf_fold {
  GUF_FOLD_LEAVES = 1,
  GUF_FOLD_JOIN = 2,
  GUF_FOLD_SCAN = 3,
  GUF_FOLD_LOAD = 4,
  GUF_FOLD_STORE = 5,
  GUF_FOLD_AT = 6
};

enum { GUF_LEAF_SIZE = 128, GUF_SCAN_TILE = 256 };

/** A loop of a function for given dtypes. `types` has one dtype per operand, inputs first. `kernel`
 * is the index of the loop's entry in host images. `name` is the stem of the symbols in device
 * images: with the stem "guf_ew_add_ff_f" they are guf_ew_add_ff_f_row, guf_ew_add_ff_f_nd and so
 * on. */
typedef struct guf_module_loop {
  const guf_dtype *types;
  const char *name;
  uint32_t kernel;
  int32_t kind;    /* guf_loop_kind */
  uint32_t fold;   /* 1 + index of the loop's fold entry; 0: no fold entry */
  uint32_t family; /* family of the device images that contain the loop's entries; 0: all images
                      contain them */
} guf_module_loop;

/** A function: a ufunc (`signature` is NULL) or a generalized ufunc. */
typedef struct guf_module_function {
  const char *name;
  const char *signature; /* NULL: elementwise */
  const char *rules;     /* NULL, or rules beyond the signature: "n=value(1); p=m+1" */
  const int32_t *roles;  /* NULL, or one guf_role per operand */
  const char *doc;       /* one line, or NULL */
  int32_t nin, nout;
  int32_t identity; /* guf_identity */
  uint32_t flags;   /* guf_function_flag */
  uint32_t nloops;
  /* For a reduction with a user-defined accumulator (guf_reduction_desc): 1 + index of the function
   * that merges two accumulators, and of the function that computes the results; 0: none. */
  uint16_t merge, finish;
  const guf_module_loop *loops;
  const char *failure; /* NULL, or the error message if a GUF_LOOP_STATUS loop fails */
} guf_module_function;

/** Code for one target. A host image names its ISA level ("x86-64-v3") and has `entries`, one
 * function per kernel. A device image consists of `bytes` bytes at `offset` in the decompressed
 * `data`. Several images may share one compressed frame: the same data, size and inflated_size. The
 * module_load slot of a plugin always receives a plain image: codec 0, offset 0, followed by a NUL
 * byte. */
typedef struct guf_module_image {
  int32_t format; /* guf_image_format */
  int32_t codec;  /* guf_image_codec */
  const char *target;
  const void *data;             /* device images */
  uint64_t size;                /* bytes of `data` */
  uint64_t inflated_size;       /* bytes after decompression; codec 0: 0 or `size` */
  void (*const *entries)(void); /* host images: nkernels functions, cast to the type of their loop
                                   kind */
  uint64_t offset, bytes;       /* device images; both 0: all of `data` */
  uint32_t family;              /* 0: the image contains every loop; else it contains only the loops
                                   of this family */
  uint32_t reserved;
} guf_module_image;

enum guf_parameter_kind {
  GUF_PARAMETER_NUMBER = 1,  /* one element, by value */
  GUF_PARAMETER_POINTER = 2, /* the first element of a C-contiguous array */
  GUF_PARAMETER_VIEW = 3 /* address, extents and byte strides of an array with `ndim` dimensions */
};

enum guf_parameter_flag {
  GUF_PARAMETER_READ_ONLY = 1u << 0 /* the kernel does not write the
                                       array */
};

/** A parameter of a raw kernel, after its guf::block. */
typedef struct guf_module_parameter {
  int32_t kind; /* guf_parameter_kind */
  guf_dtype dtype;
  int32_t ndim;   /* views: 0..GUF_MAX_LOOP_NDIM; 0 for other kinds */
  uint32_t flags; /* guf_parameter_flag */
} guf_module_parameter;

/** The parameters of a kernel: `count` of them, at most GUF_MAX_KERNEL_PARAMETERS. `block_bytes` is
 * the size of the struct that a launch passes by value: a guf_kernel_head, then the arguments in
 * order, each at a multiple of 8 bytes. A number occupies its own size, rounded up to a multiple of
 * 8. A pointer occupies 8 bytes. A view occupies 8 bytes for its address and for each extent and
 * stride. */
typedef struct guf_module_parameters {
  uint32_t count;
  uint32_t block_bytes;
  const guf_module_parameter *list;
} guf_module_parameters;

/** Header of a launch's arguments. */
typedef struct guf_kernel_head {
  uint32_t grid[3];      /* blocks */
  uint32_t block[3];     /* threads per block */
  uint32_t shared_bytes; /* bytes per block */
  uint32_t reserved;     /* 0 */
} guf_kernel_head;

enum guf_module_kernel_flag {
  GUF_MODULE_KERNEL_SYNCHRONIZES = 1u << 0 /* threads of a block may wait for one another */
};

/** A raw kernel. In a host image, the entry of the kernel is a function void
 * (guf::device::work_item *, const void *) (gufunc/kernel/work_item.hpp). In a device image, the
 * entry is the symbol `symbol`. */
typedef struct guf_module_kernel {
  const char *name;
  const char *symbol; /* "guf_rk_matmul" */
  const char *doc;    /* one line, or NULL */
  const guf_module_parameters *parameters;
  uint32_t kernel;       /* index of the kernel's entry in host images */
  uint32_t family;       /* as in guf_module_loop */
  uint32_t max_threads;  /* threads per block */
  uint32_t shared_bytes; /* bytes per block of every launch, in addition to the bytes that the
                            launch requests */
  uint32_t flags;        /* guf_module_kernel_flag */
  uint32_t reserved;     /* 0 */
} guf_module_kernel;

/** The table of a module. A module exports it as `gufunc_module_v1_<name>`, and a shared object
 * also as `gufunc_module_v1`. */
typedef struct guf_module_v1 {
  uint32_t struct_size; /* sizeof(guf_module_v1) when the table was written */
  uint32_t kernel_abi;  /* GUF_KERNEL_ABI when the table was written */
  const char *name;
  uint32_t nfunctions;
  uint32_t nimages;
  uint32_t nkernels;     /* number of entries of a host image */
  uint32_t nraw_kernels; /* number of elements of `raw_kernels` */
  const guf_module_function *functions;
  const guf_module_image *images;
  const guf_module_kernel *raw_kernels; /* absent if struct_size ends before it */
} guf_module_v1;

GUF_END_DECLS

#endif /* GUFUNC_MODULE_TABLE_H */
