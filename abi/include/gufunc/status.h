/* SPDX-License-Identifier: Apache-2.0
 * Status codes and the error record: how every function of libgufunc says what went wrong. */
#ifndef GUFUNC_STATUS_H
#define GUFUNC_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(SWIG)
#define GUF_API
#elif defined(__GNUC__)
#define GUF_API __attribute__((visibility("default")))
#else
#define GUF_API
#endif

#ifdef __cplusplus
#define GUF_BEGIN_DECLS extern "C" {
#define GUF_END_DECLS }
#else
#define GUF_BEGIN_DECLS
#define GUF_END_DECLS
#endif

GUF_BEGIN_DECLS

/** Result of every fallible call. 0 is success, 1..99 are answers of query and wait functions, 100
 * and above are errors. The class of an error is `code / 100`; a code keeps its class for ever, so
 * a caller that meets an unknown code still knows what kind of failure it is. */
typedef int32_t guf_status;

enum guf_status_code {
  GUF_OK = 0,
  GUF_NOT_READY = 1, /* a query: the work is still running */
  GUF_TIMEOUT = 2,   /* a wait: the time ran out, the work goes on */

  /* 1xx: the caller (ValueError) */
  GUF_E_ARG = 100,    /* a pointer, count, enum value or flag that the function does not take */
  GUF_E_HANDLE = 101, /* a handle that is freed, of another kind, or not of this library */
  GUF_E_STRUCT = 102, /* struct_size is 0, too small, or has set bytes that this library lacks */
  GUF_E_BUFFER_TOO_SMALL = 103, /* the caller's buffer is too small; the needed size is returned */
  GUF_E_EXISTS = 104,           /* the name or loop is registered already */
  GUF_E_NOT_FOUND = 105,        /* no such name, device index, module or kernel */
  GUF_E_PLAN_MISMATCH = 106,    /* the addresses overlap in another way than the plan assumes */
  GUF_E_DEVICE_MISMATCH = 107,  /* operands lie on devices that the call may not mix */

  /* 2xx: types (TypeError) */
  GUF_E_DTYPE = 200,   /* unknown dtype, or one that the function does not take */
  GUF_E_NO_LOOP = 201, /* no loop of the ufunc takes these types */
  GUF_E_CASTING = 202, /* the casting rule forbids a needed cast */

  /* 3xx: values (ValueError) */
  GUF_E_SHAPE = 300,     /* shapes do not fit together, or a size overflows */
  GUF_E_SIGNATURE = 301, /* a malformed signature, type string or dimension rule */
  GUF_E_READ_ONLY = 302, /* an output cannot be written */
  GUF_E_OVERLAP = 303,   /* an output overlaps itself */
  GUF_E_VALUE = 304,     /* a value outside its domain (negative integer power, rule) */

  GUF_E_INDEX = 400,          /* IndexError: an index outside the array */
  GUF_E_AXIS = 500,           /* AxisError: an axis outside the array, or repeated */
  GUF_E_OVERFLOW = 600,       /* OverflowError: a weak integer that does not fit */
  GUF_E_FLOATING_POINT = 700, /* FloatingPointError: a floating-point event */

  /* 8xx: not implemented (NotImplementedError) */
  GUF_E_UNSUPPORTED = 800, /* valid, but this version or device cannot do it */
  GUF_E_NO_IMAGE = 801,    /* no compiled kernel for this loop on this device */
  GUF_E_CAPTURE = 802,     /* the call would allocate or wait while a stream is captured */

  /* 9xx: availability (RuntimeError) */
  GUF_E_NO_BACKEND = 900, /* no plugin of that name was found */
  GUF_E_NO_DRIVER = 901,  /* the vendor's driver library is missing or a stub */
  GUF_E_DRIVER_OLD = 902, /* the vendor's driver is older than the plugin needs */
  GUF_E_NO_DEVICE = 903,  /* the driver works and reports no usable device */
  GUF_E_ABI = 904,        /* plugin or module of another ABI, ISA or kernel layout */
  GUF_E_UNTRUSTED = 905,  /* a file whose owner or mode the library does not accept */

  GUF_E_NO_MEMORY = 1000,     /* MemoryError: a host allocation failed */
  GUF_E_DEVICE_MEMORY = 1001, /* MemoryError: a device allocation failed */

  GUF_E_IO = 1100,       /* OSError: a file cannot be opened or read */
  GUF_E_BAD_FILE = 1101, /* OSError: a file that is damaged, truncated or not what it claims */

  /* 12xx: run time (RuntimeError) */
  GUF_E_LAUNCH = 1200,      /* the backend refused or failed a launch */
  GUF_E_LOOP = 1201,        /* a user loop returned an error */
  GUF_E_CANCELLED = 1202,   /* cancelled by the caller */
  GUF_E_FORKED = 1203,      /* a stream or device of the parent, used in a child */
  GUF_E_SHUTDOWN = 1204,    /* the library was shut down */
  GUF_E_DEVICE_LOST = 1300, /* the device failed for good in this process */

  GUF_E_INTERNAL = 9900 /* a broken invariant of the library: please report it */
};

/** Floating-point events, as bits of a word: NumPy's errstate. They are predicates on the values of
 * operands and results (docs/fp-events.md), the same on every backend; no flag of the processor. */
enum guf_fp_event {
  GUF_FP_DIVIDE = 1u << 0,    /* an infinite result of finite operands at a pole: 1/0, log(0) */
  GUF_FP_OVERFLOW = 1u << 1,  /* any other infinite result of finite operands */
  GUF_FP_UNDERFLOW = 1u << 2, /* a result below the smallest normal number, of nonzero operands */
  GUF_FP_INVALID = 1u << 3,   /* NaN of operands without NaN: 0/0, sqrt(-1) */
  GUF_FP_INTEGER_DIVIDE = 1u << 4 /* an integer divided by zero */
};

/** Details of a failure. Owned by the caller, filled only when a call fails; holds no pointer, so
 * there is nothing to free, and no thread-local state exists: it can be read from any thread.
 * Every fallible function takes one as its last parameter; NULL is allowed everywhere.
 * Frozen at 512 bytes. The caller sets `struct_size` to sizeof(guf_error); with any other value the
 * record is left as it is and the status alone tells. */
typedef struct guf_error {
  uint32_t struct_size; /* sizeof(guf_error), set by the caller */
  guf_status status;    /* the status that the call returned */
  int32_t argument;     /* operand or parameter at fault, from 0; or -1 */
  int32_t axis;         /* axis at fault; or -1 */
  int32_t native_code;  /* the operating system's or vendor's code, or 0 */
  int32_t reserved;     /* 0 */
  char message[488];    /* one sentence, NUL-terminated, UTF-8 */
} guf_error;

/** Name of a status code, such as "GUF_E_SHAPE"; "GUF_E_UNKNOWN" for a code this version does not
 * have.
 * Ownership  static text, never freed.   [mt] [no-block] [no-alloc] */
GUF_API const char *guf_status_name(guf_status status);

/** What a status code means, in one line of English.
 * Ownership  static text, never freed.   [mt] [no-block] [no-alloc] */
GUF_API const char *guf_status_text(guf_status status);

GUF_END_DECLS

#endif /* GUFUNC_STATUS_H */
