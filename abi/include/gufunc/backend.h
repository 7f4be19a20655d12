/* SPDX-License-Identifier: Apache-2.0
 * The contract between libgufunc and a backend plugin. docs/plugin_contract.md numbers the duties.
 *
 * A backend is a shared object `libgufunc_backend_<name>.so` that sees only this header, exports
 * one symbol, `gufunc_backend_open_v1`, and links neither libgufunc nor a vendor's driver. Its
 * identity is an ELF note (GUF_BACKEND_NOTE) that is read before any code of it runs. Once opened
 * it is never unloaded.
 *
 * Rules of both sides
 *  - Slots are append-only. The host passes a zeroed table with `struct_size`; the plugin fills its
 *    prefix.
 *  - Fallible slots return a guf_status and take a non-NULL guf_error last, `struct_size` set.
 *  - No exception, abort, exit or output crosses the plugin boundary. Slots are called from any
 *    thread, several at once, never under a lock of the host, unless a slot says otherwise.
 *  - Flags and enum values that a plugin does not know are refused with GUF_E_UNSUPPORTED. */
#ifndef GUFUNC_BACKEND_H
#define GUFUNC_BACKEND_H

#include "module_table.h"

GUF_BEGIN_DECLS

enum guf_backend_abi {
  GUF_BACKEND_ABI_MAJOR = 1, /* the symbol's suffix and the directory lib/gufunc/1 */
  GUF_BACKEND_ABI_MINOR = 1
};

/* ------------------------------------------------------------------ launch block (kernel_abi 1) */

enum guf_launch_flag {
  GUF_LAUNCH_GENERALIZED = 1u << 0, /* the loop has core dimensions */
  GUF_LAUNCH_ANY_THREAD = 1u << 1,  /* the loop may run on threads of the backend */
  GUF_LAUNCH_STATUS = 1u << 2,      /* the loop is a guf_loop_status */
  GUF_LAUNCH_MASKED = 1u << 3,      /* `mask` holds one bool per item (where=) */
  GUF_LAUNCH_CAST = 1u << 4,        /* some operand's dtype differs from the loop's */
  GUF_LAUNCH_SWAPPED = 1u << 5, /* some operand is byte-swapped or unaligned (see operand flags) */
  GUF_LAUNCH_ERROR = 1u << 6    /* with GUF_LAUNCH_STATUS: the loop is a guf_loop_error */
};

enum guf_launch_operand_flag {
  GUF_LAUNCH_OPERAND_SWAPPED = 1u << 0,   /* bytes of each (real) element are reversed */
  GUF_LAUNCH_OPERAND_UNALIGNED = 1u << 1, /* addresses or strides break the dtype's alignment */
  GUF_LAUNCH_OPERAND_WRITTEN = 1u << 2,   /* an output or inout operand */
  GUF_LAUNCH_OPERAND_READ = 1u << 3,      /* an input or inout operand */
  GUF_LAUNCH_OPERAND_IMMEDIATE = 1u << 4  /* an input of one element, which the host can read at
                                             `address` during the call: aligned, all steps are 0 */
};

enum guf_backend_stream_flag {
  GUF_BACKEND_STREAM_DEFAULT = 1u << 0 /* the device's own stream, the one that NULL stands for */
};

/** Geometry of one launch: what every backend's loops over items are made of. Plain data.
 * Loop dimension 0 is the innermost. `nloop` may be 0: one item. Operand order: inputs, then
 * outputs. Addresses belong to the launch, not to the block's owner: a plan copies the block and
 * sets `address`.
 *
 * `size[0]` is dimension 0's extent (1 when nloop is 0), `size[1..ncore]` the distinct core
 * dimensions: so `size` is what a host loop takes as `dims`. `step[0..noperands)` is dimension 0's
 * stride of each operand, followed by `ncorestrides` core strides: what a host loop takes as
 * `steps`. Dimension d >= 1 has `outer_size[d-1]` and `outer_step[d-1][operand]`. */
typedef struct guf_launch_block {
  int32_t noperands, nin;
  int32_t nloop; /* 0..GUF_MAX_LOOP_NDIM */
  int32_t ncore; /* distinct core dimensions */
  int32_t ncorestrides;
  uint32_t flags; /* guf_launch_flag */
  uint64_t items; /* product of the loop extents */
  int64_t size[1 + GUF_MAX_CORE_NAMES];
  int64_t step[GUF_MAX_OPERANDS + GUF_MAX_CORE_STRIDES];
  int64_t outer_size[GUF_MAX_LOOP_NDIM - 1];
  int64_t outer_step[GUF_MAX_LOOP_NDIM - 1][GUF_MAX_OPERANDS];
  uint64_t address[GUF_MAX_OPERANDS];
  uint64_t mask; /* address of the mask's first byte, or 0 */
  int64_t mask_step[GUF_MAX_LOOP_NDIM];
  guf_dtype dtype[GUF_MAX_OPERANDS];      /* of the operand in memory */
  guf_dtype loop_dtype[GUF_MAX_OPERANDS]; /* of the loop */
  uint32_t operand_flags[GUF_MAX_OPERANDS];
  int32_t core_ndim[GUF_MAX_OPERANDS]; /* core dimensions of each operand */
  uint8_t
      core_name[GUF_MAX_CORE_STRIDES]; /* index into size[1..] of each core stride's dimension */
} guf_launch_block;

/* ------------------------------------------------------------------ floating-point events */

/** Floating-point events that a launch looks for, in the loop's dtypes. Sent only to a backend with
 * GUF_BACKEND_FP_EVENTS, with a method to one with GUF_BACKEND_METHOD_FP_EVENTS. */
typedef struct guf_launch_watch {
  const char *name;        /* of the ufunc, for messages */
  uint32_t function_flags; /* guf_function_flag */
  uint32_t report;         /* guf_fp_event: or-ed into *events, atomically, when the work is done */
  uint32_t fail;           /* guf_fp_event: these make the launch GUF_E_FLOATING_POINT */
  uint32_t reserved;
  uint32_t *events; /* host memory; NULL when `report` is 0 */
} guf_launch_watch;

enum guf_backend_feature {
  GUF_BACKEND_FP_EVENTS = 1u << 0,        /* of launches */
  GUF_BACKEND_METHOD_FP_EVENTS = 1u << 1, /* of methods: of every step of the fold */
  GUF_BACKEND_METHOD_RECORDS = 1u << 2    /* methods take records (dtype 0x82) of every size */
};

/* ------------------------------------------------------------------ methods (kernel_abi 1) */

enum guf_method {
  GUF_METHOD_REDUCE = 1,
  GUF_METHOD_ACCUMULATE = 2,
  GUF_METHOD_REDUCEAT = 3,
  GUF_METHOD_AT = 4
};

enum guf_method_flag {
  GUF_METHOD_TREE = 1u << 0, /* fold by the tree and the scan of docs/reductions.md; else left */
  GUF_METHOD_ANY_THREAD = 1u << 1, /* the loop may run on threads of the backend */
  GUF_METHOD_STATUS = 1u << 2,     /* the loop, and its fold entry, may fail */
  GUF_METHOD_MASKED = 1u << 3,     /* reduce: `mask` holds one bool per element of the input */
  GUF_METHOD_INITIAL = 1u << 4,    /* reduce: `initial` is the left operand at the root */
  GUF_METHOD_EXACT = 1u << 5,      /* integers: any order gives the same bits */
  GUF_METHOD_MIXED = 1u << 6,      /* reduce: the loop is X, Y -> X, its elements are Y's */
  GUF_METHOD_ERROR = 1u << 7       /* with GUF_METHOD_STATUS: the loop is a guf_loop_error */
};

/** Geometry of reduce, accumulate, reduceat and at along explicit axes. Plain data; the core has
 * checked every index, shape and overlap, and given every result a loop X, X -> X, or with
 * GUF_METHOD_MIXED X, Y -> X.
 *
 * Kept dimensions are walked item by item, dimension 0 the innermost, coalesced; `fold` dimensions
 * are not, since the tree is one per axis: dimension 0 is folded first, into the results of which
 * dimension 1 is folded, and so on. accumulate and reduceat have one.
 *   reduce      one result per kept item. Without elements: `initial`; the core refuses the rest.
 *               A kept item whose elements are all masked off gives `initial`, which is then there.
 *               GUF_METHOD_MIXED: from the left over all fold dimensions, dimension 0 fastest: X =
 *               X op Y. It begins with `initial`, or with the first element, cast to the output's
 *               dtype and that to X. There is no tree and no fold entry.
 *   accumulate  as many results as elements, along `fold_output_step`.
 *   reduceat    `nindices` results along `fold_output_step`: result k folds the elements from
 *               indices[k] up to indices[k + 1] (the axis' end for the last), and is the element
 *               indices[k] alone where that is not greater.
 *   at          for k = 0 .. nindices - 1 in order, and for every kept item: output = output op
 *               operand, at `output` + indices[k] and `input` + operand_indices[k] bytes. With
 *               `input` 0 the loop is unary: output = op output. No fold dimension. */
typedef struct guf_method_block {
  int32_t method;
  uint32_t flags; /* guf_method_flag */
  int32_t nkept;  /* 0..GUF_MAX_LOOP_NDIM */
  int32_t nfold;  /* 0..GUF_MAX_LOOP_NDIM */
  uint64_t items; /* product of the kept extents */
  int64_t kept_size[GUF_MAX_LOOP_NDIM];
  int64_t kept_input_step[GUF_MAX_LOOP_NDIM];
  int64_t kept_output_step[GUF_MAX_LOOP_NDIM];
  int64_t kept_mask_step[GUF_MAX_LOOP_NDIM];
  int64_t fold_size[GUF_MAX_LOOP_NDIM];
  int64_t fold_input_step[GUF_MAX_LOOP_NDIM];
  int64_t fold_mask_step[GUF_MAX_LOOP_NDIM];
  int64_t fold_output_step;
  uint64_t input; /* address; may be anywhere in relation to `output` only where both are the same
                      view (accumulate), else apart */
  uint64_t output;
  uint64_t mask;
  const int64_t *indices;         /* host memory; reduceat: elements, at: bytes */
  const int64_t *operand_indices; /* at: bytes */
  int64_t nindices;
  guf_dtype input_dtype, output_dtype; /* in memory */
  guf_dtype loop_dtype;                /* X */
  uint32_t input_flags, output_flags;  /* guf_launch_operand_flag */
  guf_dtype element_dtype;             /* Y with GUF_METHOD_MIXED, else 0 */
  unsigned char initial[16];           /* in the loop's dtype; not of a record */
} guf_method_block;

/** One launch of a method. `fold` is NULL where the loop has no fold entry: the backend folds with
 * the loop alone, to the same bits (in X: a loop of f16 then rounds every step). Without
 * GUF_METHOD_TREE it may know GUF_FOLD_SCAN and GUF_FOLD_AT only.
 *
 * A loop with a record among its types is sent only to a backend with GUF_BACKEND_METHOD_RECORDS.
 * It has no fold entry, and sees no element but those it is given to fold: none that is masked off,
 * and no bytes that are not a record's. */
typedef struct guf_backend_method {
  uint32_t struct_size;
  uint32_t max_threads;
  void *kernel; /* of the loop X, X -> X or X, Y -> X; at with a unary function: X -> X */
  void *fold;
  void *stream;
  void *user;
  const guf_method_block *block;
  const char *failure;
  const guf_launch_watch *watch; /* NULL, or the events to look for; borrowed for the call */
  const void *initial; /* with GUF_METHOD_INITIAL, of a record: its bytes, aligned, borrowed for the
                          call; else NULL */
} guf_backend_method;

/* ------------------------------------------------------------------ what slots exchange */

typedef struct guf_backend_device_info {
  uint32_t struct_size;
  uint32_t units;        /* compute units; threads for cpu */
  uint64_t memory_bytes; /* 0: unknown */
  char name[128];
  char target[64];      /* "x86-64-v4", "sm_90", "gfx942:sramecc+:xnack-" */
  char driver[64];      /* driver and its version */
  uint32_t host_memory; /* 1: the host may read and write the device's memory */
  uint32_t reserved;
} guf_backend_device_info;

enum guf_memory_kind {
  GUF_MEMORY_DEVICE = 0, /* the device's own memory; host memory for cpu */
  GUF_MEMORY_PINNED = 1, /* page-locked host memory */
  GUF_MEMORY_MAPPED = 2, /* host memory that the device addresses */
  GUF_MEMORY_MANAGED = 3
};

enum guf_copy_kind {
  GUF_COPY_HOST_TO_DEVICE = 0,
  GUF_COPY_DEVICE_TO_HOST = 1,
  GUF_COPY_DEVICE_TO_DEVICE = 2
};

/** One launch. `kernel` came from kernel_get; `stream` is NULL for the device's default order: on a
 * device with host_memory the work is then complete on return. The block is borrowed for the call.
 * `max_threads` 0: the backend's choice. */
typedef struct guf_backend_launch {
  uint32_t struct_size;
  uint32_t max_threads;
  void *kernel;
  void *stream;
  void *user; /* the loop's user pointer (registered host loops) */
  const guf_launch_block *block;
  const char *failure;           /* NULL, or what a failing GUF_LAUNCH_STATUS loop says; immortal */
  const guf_launch_watch *watch; /* NULL, or the events to look for; borrowed for the call */
} guf_backend_launch;

/** Services of the host. Valid for the life of the process. */
typedef struct guf_host_api {
  uint32_t struct_size;
  uint32_t abi_minor;
  void *context;
  /* level 0 error, 1 warning, 2 information; goes to a ring that the program reads with
   * guf_log_read. */
  void (*log)(void *context, int32_t level, const char *message);
  void *(*alloc)(void *context, size_t size, size_t alignment); /* NULL when memory is out */
  void (*free)(void *context, void *pointer);
  /* Value of an environment variable, or NULL when unset or the process is privileged. */
  const char *(*config)(void *context, const char *name);
} guf_host_api;

/* ------------------------------------------------------------------ the table */

/** All slots are required but those marked optional; the host fills optional gaps with "not
 * supported". void *device, *stream, *event, *module, *kernel are the plugin's own objects. */
typedef struct guf_backend_api {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *name;    /* equal to the note's name */
  const char *version; /* of the plugin */
  uint64_t features;   /* guf_backend_feature */

  /* Opens the driver (the first driver call happens here) and counts devices. */
  guf_status (*probe)(int32_t *out_ndevices, char *out_driver, size_t driver_size,
                      guf_error *error);
  /* `native` 0: the device's own context; else adopt the caller's. */
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

  /* `native` 0: a new stream; else adopt. `flags`: guf_backend_stream_flag; a device with
   * host_memory has no stream of its own and knows none. */
  guf_status (*stream_open)(void *device, uint64_t native, uint32_t flags, void **out_stream,
                            guf_error *error);
  void (*stream_close)(void *stream); /* pending work still completes */
  /* GUF_OK: idle; GUF_NOT_READY: busy. Reports no failure of the work: events do. */
  guf_status (*stream_query)(void *stream, guf_error *error);
  /* Waits for all work queued so far. GUF_TIMEOUT when it lasts longer. Reports the stream's first
   * failure since the last report, once, and clears it. UINT64_MAX: no limit. */
  guf_status (*stream_synchronize)(void *stream, uint64_t timeout_ns, guf_error *error);
  guf_status (*stream_wait_event)(void *stream, void *event, guf_error *error);

  guf_status (*event_open)(void *device, void **out_event, guf_error *error);
  void (*event_close)(void *event);
  guf_status (*event_record)(void *event, void *stream, guf_error *error);
  /* GUF_OK: complete; GUF_NOT_READY; an error: the stream had failed before the record. */
  guf_status (*event_query)(void *event, guf_error *error);
  guf_status (*event_synchronize)(void *event, uint64_t timeout_ns, guf_error *error);

  /* The standard library's kernels; NULL table: the backend has none. */
  const guf_module_v1 *(*builtins)(void);
  /* 0: cannot run here; higher is better. */
  int32_t (*image_score)(void *device, const guf_module_image *image);
  guf_status (*module_load)(void *device, const guf_module_image *image, void **out_module,
                            guf_error *error);
  void (*module_unload)(void *module);
  /* `index` is guf_module_loop.kernel, `name` its symbol stem. */
  guf_status (*kernel_get)(void *module, uint32_t index, const char *name, void **out_kernel,
                           guf_error *error);
  guf_status (*launch)(void *device, const guf_backend_launch *launch, guf_error *error);

  /* Copies elements between dtypes and strides: operand 0 of the block is read, operand 1 written,
   * both may be swapped or unaligned; no core dimensions, no loop. Casts are those of guf::cast;
   * between two times of one class and different units those of guf::time::conversion
   * (gufunc/kernel/time.hpp), between the classes and to and from numbers those of int64, but that
   * floating-point numbers beyond int64 become not-a-time. Records (dtype 0x82) are only moved.
   * Operands that overlap are the host's affair: it stages them. NULL stream: complete on
   * return. */
  guf_status (*convert)(void *device, void *stream, const guf_launch_block *block,
                        guf_error *error);

  /* Runs a method of a ufunc. The block and its indices are borrowed for the call. NULL stream:
   * complete on return where the device has host memory. Casts are those of guf::cast. */
  guf_status (*method)(void *device, const guf_backend_method *method, guf_error *error);

  /* Stops the plugin's threads and frees caches; the table stays callable. */
  guf_status (*shutdown)(uint64_t timeout_ns, guf_error *error);
  /* Optional: a named table of further slots. */
  guf_status (*extension)(const char *name, uint32_t version, const void **out_table,
                          guf_error *error);

  /* Minor 1 */

  /* Optional. How the slot `launch` would run this, for people: lines "word: text", each with its
   * newline, NUL-terminated, cut off at `text_size`. Runs and queues nothing, reads and writes no
   * operand; `kernel` may be NULL. */
  guf_status (*describe_launch)(void *device, const guf_backend_launch *launch, char *out_text,
                                size_t text_size, guf_error *error);
  /* Optional. The same of the slot `method`. Indices that are not known are NULL where `nindices`
   * is not 0. */
  guf_status (*describe_method)(void *device, const guf_backend_method *method, char *out_text,
                                size_t text_size, guf_error *error);
} guf_backend_api;

/** The plugin's one exported symbol. `api` is zeroed, its struct_size set to the host's size; the
 * plugin fills what fits and sets struct_size to what it knows.
 * Errors  GUF_E_ABI <= the host's minor is older than the plugin needs */
typedef guf_status (*guf_backend_open_fn)(const guf_host_api *host, uint32_t host_minor,
                                          guf_backend_api *api, guf_error *error);

#if defined(GUFUNC_BACKEND_IMPLEMENTATION)
GUF_API guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                          guf_backend_api *api, guf_error *error);
#endif

/** Identity note: section .note.gufunc, owner "gufunc", type 0x6201, descriptor a text of
 * `key=value` pairs separated by ';' -- name, abi (lowest-highest minor), priority, isa (baseline
 * the code needs).
 * Example: GUF_BACKEND_NOTE("name=null;abi=0-0;priority=10;isa=x86-64") at file scope. */
#define GUF_BACKEND_NOTE(text)                                                     \
  __attribute__((section(".note.gufunc"), used, aligned(4))) static const struct { \
    uint32_t owner_size, descriptor_size, type;                                    \
    char owner[8];                                                                 \
    char descriptor[sizeof(text)];                                                 \
  } guf_backend_note = {7, sizeof(text), 0x6201, "gufunc", text}

GUF_END_DECLS

#endif /* GUFUNC_BACKEND_H */
