/* SPDX-License-Identifier: Apache-2.0
 * The contract between libgufunc and a backend plugin. docs/plugin_contract.md numbers the
 * requirements.
 *
 * A backend is a shared object `libgufunc_backend_<name>.so`. It includes only this header, exports
 * one symbol, `gufunc_backend_open_v1`, and links neither libgufunc nor a vendor's driver. An ELF
 * note (GUF_BACKEND_NOTE) identifies the plugin. The library reads the note before any code of the
 * plugin runs. An opened plugin is never unloaded.
 *
 * Rules for both sides
 *  - New versions only append slots. The host passes a zeroed table in which `struct_size` is set;
 *    the plugin fills the slots that it knows.
 *  - Fallible slots return a guf_status. Their last parameter is a non-NULL guf_error with
 *    `struct_size` set.
 *  - Neither side throws exceptions across the plugin boundary, ends the process or prints
 *    anything. Slots may be called from any thread and concurrently. The host holds no lock during
 *    a call, unless a slot documents one.
 *  - A plugin refuses flags and enum values that it does not know with GUF_E_UNSUPPORTED. */
#ifndef GUFUNC_BACKEND_H
#define GUFUNC_BACKEND_H

#include "module_table.h"

GUF_BEGIN_DECLS

enum guf_backend_abi {
  GUF_BACKEND_ABI_MAJOR = 1, /* the number in gufunc_backend_open_v1 and in the directory
                                lib/gufunc/1 */
  GUF_BACKEND_ABI_MINOR = 1
};

/* ------------------------------------------------------------------ launch block (kernel_abi 1) */

enum guf_launch_flag {
  GUF_LAUNCH_GENERALIZED = 1u << 0, /* the loop has core dimensions */
  GUF_LAUNCH_ANY_THREAD = 1u << 1,  /* the loop may run on the backend's threads */
  GUF_LAUNCH_STATUS = 1u << 2,      /* the loop is a guf_loop_status */
  GUF_LAUNCH_MASKED = 1u << 3,      /* `mask` holds one bool per item (`where` of a call) */
  GUF_LAUNCH_CAST = 1u << 4,        /* the dtype of an operand differs from the loop's */
  GUF_LAUNCH_SWAPPED = 1u << 5,     /* an operand is byte-swapped or unaligned
                                       (guf_launch_operand_flag) */
  GUF_LAUNCH_ERROR = 1u << 6        /* with GUF_LAUNCH_STATUS: the loop is a guf_loop_error */
};

enum guf_launch_operand_flag {
  GUF_LAUNCH_OPERAND_SWAPPED = 1u << 0,   /* the bytes of each element are reversed; a complex
                                             element has the bytes of each part reversed */
  GUF_LAUNCH_OPERAND_UNALIGNED = 1u << 1, /* the address or a stride is not a multiple of the
                                             dtype's alignment */
  GUF_LAUNCH_OPERAND_WRITTEN = 1u << 2,   /* an output or inout operand */
  GUF_LAUNCH_OPERAND_READ = 1u << 3,      /* an input or inout operand */
  GUF_LAUNCH_OPERAND_IMMEDIATE = 1u << 4  /* an input of one element, which the host can read at
                                             `address` during the call; it is aligned and all steps
                                             are 0 */
};

enum guf_backend_stream_flag {
  GUF_BACKEND_STREAM_DEFAULT = 1u << 0 /* the device's default stream, as for a NULL stream */
};

/** Geometry of one launch. Plain data. Loop dimension 0 is the innermost. If `nloop` is 0, the
 * launch has one item. The operands are the inputs, followed by the outputs. A plan keeps a block
 * without addresses; each launch of the plan copies the block and sets `address`.
 *
 * `size[0]` is the extent of dimension 0 (1 if nloop is 0), and `size[1..ncore]` are the distinct
 * core dimensions: a host loop receives `size` as `dims`. `step[0..noperands)` is each operand's
 * stride along dimension 0, followed by `ncorestrides` core strides: a host loop receives `step` as
 * `steps`. Dimension d >= 1 has the extent `outer_size[d-1]` and the strides
 * `outer_step[d-1][operand]`. All strides are in bytes. */
typedef struct guf_launch_block {
  int32_t noperands, nin;
  int32_t nloop; /* 0..GUF_MAX_LOOP_NDIM */
  int32_t ncore; /* number of distinct core dimensions */
  int32_t ncorestrides;
  uint32_t flags; /* guf_launch_flag */
  uint64_t items; /* product of the extents of the loop dimensions */
  int64_t size[1 + GUF_MAX_CORE_NAMES];
  int64_t step[GUF_MAX_OPERANDS + GUF_MAX_CORE_STRIDES];
  int64_t outer_size[GUF_MAX_LOOP_NDIM - 1];
  int64_t outer_step[GUF_MAX_LOOP_NDIM - 1][GUF_MAX_OPERANDS];
  uint64_t address[GUF_MAX_OPERANDS];
  uint64_t mask; /* address of the mask's first byte, or 0 */
  int64_t mask_step[GUF_MAX_LOOP_NDIM];
  guf_dtype dtype[GUF_MAX_OPERANDS];      /* dtypes of the operands in memory */
  guf_dtype loop_dtype[GUF_MAX_OPERANDS]; /* dtypes of the loop */
  uint32_t operand_flags[GUF_MAX_OPERANDS];
  int32_t core_ndim[GUF_MAX_OPERANDS];     /* number of core dimensions of each operand */
  uint8_t core_name[GUF_MAX_CORE_STRIDES]; /* for each core stride, the index of its dimension in
                                              size[1..] */
} guf_launch_block;

/* ------------------------------------------------------------------ floating-point flags */

/** The floating-point flags that a launch or a method computes, from values in the dtypes of the
 * loop. A launch has a guf_fp_status only if the backend has the feature GUF_BACKEND_FP_FLAGS, a
 * method only if the backend has GUF_BACKEND_METHOD_FP_FLAGS. */
typedef struct guf_fp_status {
  const char *name;        /* name of the ufunc, for messages */
  uint32_t function_flags; /* guf_function_flag */
  uint32_t report;         /* guf_fp_flag: flags that are ORed atomically into *flags when the work
                              is complete */
  uint32_t fail;           /* guf_fp_flag: flags that make the launch fail with
                              GUF_E_FLOATING_POINT */
  uint32_t reserved;
  uint32_t *flags; /* in host memory; NULL if `report` is 0 */
} guf_fp_status;

enum guf_backend_feature {
  GUF_BACKEND_FP_FLAGS = 1u << 0,         /* computes flags of launches */
  GUF_BACKEND_METHOD_FP_FLAGS = 1u << 1,  /* computes flags of methods, for every step of a
                                            reduction */
  GUF_BACKEND_METHOD_STRUCTURED = 1u << 2 /* methods support structured dtypes (0x82) of every
                                            size */
};

/* ------------------------------------------------------------------ methods (kernel_abi 1) */

enum guf_method {
  GUF_METHOD_REDUCE = 1,
  GUF_METHOD_ACCUMULATE = 2,
  GUF_METHOD_REDUCEAT = 3,
  GUF_METHOD_AT = 4
};

enum guf_method_flag {
  GUF_METHOD_TREE = 1u << 0, /* reduce by the tree and the scan of docs/reductions.md; without this
                                flag, from left to right */
  GUF_METHOD_ANY_THREAD = 1u << 1, /* the loop may run on the backend's threads */
  GUF_METHOD_STATUS = 1u << 2,     /* the loop and its fold entry may fail */
  GUF_METHOD_MASKED = 1u << 3,     /* reduce: `mask` holds one bool per element of the input */
  GUF_METHOD_INITIAL = 1u << 4,    /* reduce: `initial` is the left operand at the root of the
                                      tree */
  GUF_METHOD_EXACT = 1u << 5,      /* the elements are integers, and every order yields the same
                                      bits */
  GUF_METHOD_MIXED = 1u << 6,      /* reduce: the loop is X, Y -> X and the elements are of dtype
                                      Y */
  GUF_METHOD_ERROR = 1u << 7       /* with GUF_METHOD_STATUS: the loop is a guf_loop_error */
};

/** Geometry of reduce, accumulate, reduceat and at along explicit axes. Plain data. The core has
 * checked all indices, shapes and overlaps, and has chosen a loop X, X -> X, or X, Y -> X with
 * GUF_METHOD_MIXED.
 *
 * The kept dimensions (those that are not reduced) are coalesced and visited item by item;
 * dimension 0 is the innermost. The reduced dimensions (`fold`) are not coalesced, because each
 * axis has its own tree: dimension 0 is reduced first, then dimension 1 over the results of
 * dimension 0, and so on. accumulate and reduceat have one reduced dimension.
 *   reduce      one result per kept item. If there are no elements, the result is `initial`; the
 *               core refuses an empty reduction without an initial value. A kept item whose
 *               elements are all excluded by the mask also yields `initial`; in this case the core
 *               guarantees that an initial value is present.
 *               With GUF_METHOD_MIXED, the accumulator x of dtype X becomes x op y for each element
 *               y, from left to right over all reduced dimensions; dimension 0 varies fastest. At
 *               first x is `initial`, or the first element, which is cast to the output's dtype and
 *               then to X. There is no tree and no fold entry.
 *   accumulate  there are as many results as elements; `fold_output_step` is their stride.
 *   reduceat    there are `nindices` results with the stride `fold_output_step`. Result k reduces
 *               the elements from indices[k] to indices[k + 1] - 1; the last result reduces the
 *               elements up to the end of the axis. If indices[k + 1] is not greater than
 *               indices[k], result k is the element indices[k].
 *   at          for k = 0 .. nindices - 1 in order, and for every kept item, x = x op y, where x is
 *               the element at `output` + indices[k] and y the element at `input` +
 *               operand_indices[k]; the indices are byte offsets. If `input` is 0, the loop is
 *               unary: x = op x. There is no reduced dimension. */
typedef struct guf_method_block {
  int32_t method;
  uint32_t flags; /* guf_method_flag */
  int32_t nkept;  /* 0..GUF_MAX_LOOP_NDIM */
  int32_t nfold;  /* 0..GUF_MAX_LOOP_NDIM */
  uint64_t items; /* product of the extents of the kept dimensions */
  int64_t kept_size[GUF_MAX_LOOP_NDIM];
  int64_t kept_input_step[GUF_MAX_LOOP_NDIM];
  int64_t kept_output_step[GUF_MAX_LOOP_NDIM];
  int64_t kept_mask_step[GUF_MAX_LOOP_NDIM];
  int64_t fold_size[GUF_MAX_LOOP_NDIM];
  int64_t fold_input_step[GUF_MAX_LOOP_NDIM];
  int64_t fold_mask_step[GUF_MAX_LOOP_NDIM];
  int64_t fold_output_step;
  uint64_t input; /* address; overlaps `output` only if both are the same view (accumulate) */
  uint64_t output;
  uint64_t mask;
  const int64_t *indices;         /* in host memory; element indices for reduceat, byte offsets for
                                     at */
  const int64_t *operand_indices; /* byte offsets for at */
  int64_t nindices;
  guf_dtype input_dtype, output_dtype; /* dtypes of the operands in memory */
  guf_dtype loop_dtype;                /* X */
  uint32_t input_flags, output_flags;  /* guf_launch_operand_flag */
  guf_dtype element_dtype;             /* Y with GUF_METHOD_MIXED, else 0 */
  unsigned char initial[16];           /* in the loop's dtype; unused for a structured dtype */
} guf_method_block;

/** One launch of a method. `fold` is NULL if the loop has no fold entry. The backend then reduces
 * by calling the loop. The bits of the result are the same, except for f16 and bf16: without a fold
 * entry, partial results have dtype X and are rounded at every step. Without GUF_METHOD_TREE,
 * `fold` may support only GUF_FOLD_SCAN and GUF_FOLD_AT.
 *
 * A method whose loop has a structured dtype is run only on a backend with
 * GUF_BACKEND_METHOD_STRUCTURED. Such a loop has no fold entry. The backend must call it only with
 * elements to reduce, never with elements that the mask excludes or with bytes that are not an
 * element. */
typedef struct guf_backend_method {
  uint32_t struct_size;
  uint32_t max_threads;
  void *kernel; /* kernel of the loop X, X -> X or X, Y -> X, or of X -> X for at with a unary
                   function */
  void *fold;
  void *stream;
  void *user;
  const guf_method_block *block;
  const char *failure;
  const guf_fp_status *fp_status; /* NULL, or the flags to compute; borrowed for the call */
  const void *initial; /* bytes of the initial value of a structured dtype (GUF_METHOD_INITIAL),
                          aligned, borrowed for the call; else NULL */
} guf_backend_method;

/* ------------------------------------------------------------------ what slots exchange */

typedef struct guf_backend_device_info {
  uint32_t struct_size;
  uint32_t units;        /* compute units; threads for cpu */
  uint64_t memory_bytes; /* 0: unknown */
  char name[128];
  char target[64];      /* "x86-64-v4", "sm_90", "gfx942:sramecc+:xnack-" */
  char driver[64];      /* name and version of the driver */
  uint32_t host_memory; /* 1: the host can read and write the device's memory */
  uint32_t reserved;
} guf_backend_device_info;

enum guf_memory_kind {
  GUF_MEMORY_DEVICE = 0, /* the device's own memory; host memory for cpu */
  GUF_MEMORY_PINNED = 1, /* page-locked host memory */
  GUF_MEMORY_MAPPED = 2, /* host memory that the device can access */
  GUF_MEMORY_MANAGED = 3
};

enum guf_copy_kind {
  GUF_COPY_HOST_TO_DEVICE = 0,
  GUF_COPY_DEVICE_TO_HOST = 1,
  GUF_COPY_DEVICE_TO_DEVICE = 2
};

/** One launch. `kernel` was returned by the slot kernel_get. With a NULL `stream` the work runs on
 * the device's default stream or, if the device has host_memory, is complete on return. `block` is
 * borrowed for the call. `max_threads` 0 lets the backend decide. */
typedef struct guf_backend_launch {
  uint32_t struct_size;
  uint32_t max_threads;
  void *kernel;
  void *stream;
  void *user; /* user pointer of a loop that the program added */
  const guf_launch_block *block;
  const char *failure;            /* NULL, or the error message for a failure of a GUF_LAUNCH_STATUS
                                     loop; never freed */
  const guf_fp_status *fp_status; /* NULL, or the flags to compute; borrowed for the call */
} guf_backend_launch;

/** Services of the host, valid for the life of the process. */
typedef struct guf_host_api {
  uint32_t struct_size;
  uint32_t abi_minor;
  void *context;
  /* Adds a line to the log, which the program reads with guf_log_read. level: 0 error, 1 warning, 2
   * information. */
  void (*log)(void *context, int32_t level, const char *message);
  void *(*alloc)(void *context, size_t size, size_t alignment); /* NULL if out of memory */
  void (*free)(void *context, void *pointer);
  /* Returns the value of an environment variable. NULL if it is unset or the process is
   * privileged. */
  const char *(*config)(void *context, const char *name);
} guf_host_api;

/* ------------------------------------------------------------------ the table */

/** The slots of a backend. All are required except those marked optional; for a missing optional
 * slot the host installs a function that reports "not supported". void *device, *stream, *event,
 * *module and *kernel are objects of the plugin. */
typedef struct guf_backend_api {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *name;    /* the name in the backend note */
  const char *version; /* version of the plugin */
  uint64_t features;   /* guf_backend_feature */

  /* Opens the driver and counts devices. This slot makes the first call of the driver. */
  guf_status (*probe)(int32_t *out_ndevices, char *out_driver, size_t driver_size,
                      guf_error *error);
  /* Opens a device: over its own context if `native` is 0, else over the caller's context
   * `native`. */
  guf_status (*device_open)(int32_t index, uint64_t native, void **out_device,
                            guf_backend_device_info *out_info, guf_error *error);
  void (*device_close)(void *device);

  guf_status (*memory_alloc)(void *device, uint64_t size, int32_t kind, void *stream,
                             uint64_t *out_address, guf_error *error);
  guf_status (*memory_free)(void *device, uint64_t address, uint64_t size, int32_t kind,
                            void *stream, guf_error *error);
  guf_status (*copy)(void *device, void *stream, uint64_t dst, uint64_t src, uint64_t size,
                     int32_t kind, guf_error *error);
  guf_status (*fill)(void *device, void *stream, uint64_t dst, const void *pattern,
                     uint32_t pattern_size, uint64_t count, guf_error *error);

  /* Creates a stream if `native` is 0, else adopts the native stream `native`. `flags` is a
   * guf_backend_stream_flag; a device with host_memory has no default stream and supports no
   * flag. */
  guf_status (*stream_open)(void *device, uint64_t native, uint32_t flags, void **out_stream,
                            guf_error *error);
  void (*stream_close)(void *stream); /* pending work still completes */
  /* Returns GUF_OK if the stream is idle, GUF_NOT_READY if it is busy. Does not report failures of
   * the work; events and stream_synchronize report them. */
  guf_status (*stream_query)(void *stream, guf_error *error);
  /* Waits for all work queued so far, for at most `timeout_ns` nanoseconds (UINT64_MAX: no limit);
   * returns GUF_TIMEOUT if the work takes longer. Reports the first failure of the stream since the
   * last report, and clears the failure, so that it is reported once. */
  guf_status (*stream_synchronize)(void *stream, uint64_t timeout_ns, guf_error *error);
  guf_status (*stream_wait_event)(void *stream, void *event, guf_error *error);

  guf_status (*event_open)(void *device, void **out_event, guf_error *error);
  void (*event_close)(void *event);
  guf_status (*event_record)(void *event, void *stream, guf_error *error);
  /* Returns GUF_OK if the event is complete, GUF_NOT_READY if not, or an error if the stream had
   * failed before the event was recorded. */
  guf_status (*event_query)(void *event, guf_error *error);
  guf_status (*event_synchronize)(void *event, uint64_t timeout_ns, guf_error *error);

  /* Returns the table of the standard library's kernels, or NULL if the backend has none. */
  const guf_module_v1 *(*builtins)(void);
  /* Ranks an image for a device: 0 means that the device cannot run the image; a higher rank is
   * better. */
  int32_t (*image_score)(void *device, const guf_module_image *image);
  guf_status (*module_load)(void *device, const guf_module_image *image, void **out_module,
                            guf_error *error);
  void (*module_unload)(void *module);
  /* Returns the kernel of a loop. `index` is guf_module_loop.kernel, and `name` is
   * guf_module_loop.name, the stem of the symbols. */
  guf_status (*kernel_get)(void *module, uint32_t index, const char *name, void **out_kernel,
                           guf_error *error);
  guf_status (*launch)(void *device, const guf_backend_launch *launch, guf_error *error);

  /* Copies the elements of operand 0 of the block to operand 1, which may have another dtype and
   * other strides. Both operands may be swapped or unaligned. The block has no core dimensions and
   * no loop. Elements are cast by guf::cast. A datetime type is cast to the same class with another
   * unit by guf::time::conversion (gufunc/kernel/time.hpp). Any other cast from or to a datetime
   * type is the cast of its int64 value, but floating-point numbers outside int64 become NaT.
   * Structured dtypes (0x82) are only copied. The operands do not overlap: the host stages them if
   * necessary. With a NULL stream the work is complete on return. */
  guf_status (*convert)(void *device, void *stream, const guf_launch_block *block,
                        guf_error *error);

  /* Runs a method of a ufunc. The block and its indices are borrowed for the call. With a NULL
   * stream the work is complete on return if the device has host memory. Elements are cast by
   * guf::cast. */
  guf_status (*method)(void *device, const guf_backend_method *method, guf_error *error);

  /* Stops the plugin's threads and frees caches. The table must stay callable. */
  guf_status (*shutdown)(uint64_t timeout_ns, guf_error *error);
  /* Optional. Returns a named table of further slots. */
  guf_status (*extension)(const char *name, uint32_t version, const void **out_table,
                          guf_error *error);

  /* Since minor version 1 */

  /* Optional. Describes for people how the slot `launch` would run this launch. The text consists
   * of lines "word: text", each with its newline. The text is NUL-terminated and truncated to
   * `text_size` bytes. Runs and queues nothing, and accesses no operand; `kernel` may be NULL. */
  guf_status (*describe_launch)(void *device, const guf_backend_launch *launch, char *out_text,
                                size_t text_size, guf_error *error);
  /* Optional. Describes the slot `method` in the same way. The indices may be NULL even if
   * `nindices` is not 0; they are then unknown. */
  guf_status (*describe_method)(void *device, const guf_backend_method *method, char *out_text,
                                size_t text_size, guf_error *error);
} guf_backend_api;

/** Type of the plugin's only exported symbol. The host passes `api` zeroed with struct_size set to
 * the host's size. The plugin fills the slots that fit and sets struct_size to the size that it
 * knows.
 * Errors  GUF_E_ABI <= the host's minor version is older than the plugin requires */
typedef guf_status (*guf_backend_open_fn)(const guf_host_api *host, uint32_t host_minor,
                                          guf_backend_api *api, guf_error *error);

/** Names of drivers' libraries. A plugin must not be linked with a library whose name starts with
 * one of these names: it opens the driver in `probe`, because a machine may lack the driver. */
#define GUF_BACKEND_DRIVER_LIBRARIES                                                        \
  "libcuda.so", "libnvidia-ml.so", "libamdhip64.so", "libhsa-runtime64.so", "libOpenCL.so", \
      "libze_loader.so"

#if defined(GUFUNC_BACKEND_IMPLEMENTATION)
GUF_API guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                          guf_backend_api *api, guf_error *error);
#endif

/** Defines the identity note of a plugin: section .note.gufunc, owner "gufunc", type 0x6201. The
 * descriptor is a text of `key=value` pairs separated by ';': name, abi (lowest-highest minor
 * version), priority, isa (baseline that the code requires), and optionally dlpack=D-P-M: the
 * DLPack device types of device memory, of pinned host memory and of managed memory; 0 for memory
 * for which DLPack has no type.
 * Example, at file scope: GUF_BACKEND_NOTE("name=null;abi=0-0;priority=10;isa=x86-64"). */
#define GUF_BACKEND_NOTE(text)                                                     \
  __attribute__((section(".note.gufunc"), used, aligned(4))) static const struct { \
    uint32_t owner_size, descriptor_size, type;                                    \
    char owner[8];                                                                 \
    char descriptor[sizeof(text)];                                                 \
  } guf_backend_note = {7, sizeof(text), 0x6201, "gufunc", text}

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_H */
