/* SPDX-License-Identifier: Apache-2.0
 * Status codes, and the error structure in which every fallible function reports details. */
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

/** Result of every fallible function. 0 is success. 1..99 are results of query and wait functions.
 * 100 and above are errors. `code / 100` is the class of an error. A code never changes its class,
 * so a caller that receives an unknown code can still handle its class. */
typedef int32_t guf_status;

enum guf_status_code {
  GUF_OK = 0,
  GUF_NOT_READY = 1, /* returned by queries: the work is still running */
  GUF_TIMEOUT = 2,   /* returned by waits: the time ran out; the work continues */

  /* 1xx: wrong arguments (ValueError) */
  GUF_E_ARG = 100,    /* a pointer, count, enum value or flag that the function does not accept */
  GUF_E_HANDLE = 101, /* a handle that was freed, is of another kind, or is not from this library */
  GUF_E_STRUCT = 102, /* struct_size is 0 or too small, or fields that this library does not know
                         are not 0 */
  GUF_E_BUFFER_TOO_SMALL = 103, /* the caller's buffer is too small; the function returns the
                                   required size */
  GUF_E_EXISTS = 104,           /* the name or loop is already registered */
  GUF_E_NOT_FOUND = 105,        /* no ufunc, device index, module or kernel of that name */
  GUF_E_PLAN_MISMATCH = 106,    /* the addresses overlap in a way that the plan was not made for */
  GUF_E_DEVICE_MISMATCH = 107,  /* the operands are on devices that one call cannot combine */

  /* 2xx: types (TypeError) */
  GUF_E_DTYPE = 200,   /* not a dtype, or a dtype that the function does not accept */
  GUF_E_NO_LOOP = 201, /* the ufunc has no loop for these dtypes */
  GUF_E_CASTING = 202, /* the casting rule forbids a required cast */

  /* 3xx: values (ValueError) */
  GUF_E_SHAPE = 300,     /* the shapes do not match, or a size overflows */
  GUF_E_SIGNATURE = 301, /* a malformed signature, type string or dimension rule */
  GUF_E_READ_ONLY = 302, /* an output is read-only */
  GUF_E_OVERLAP = 303,   /* elements of an output overlap each other, or two outputs overlap */
  GUF_E_VALUE = 304,     /* a value outside its domain (negative integer power, value rule) */

  GUF_E_INDEX = 400,          /* IndexError: an index is outside the array */
  GUF_E_AXIS = 500,           /* AxisError: an axis is outside the array, or repeated */
  GUF_E_OVERFLOW = 600,       /* OverflowError: a weak integer does not fit the dtype */
  GUF_E_FLOATING_POINT = 700, /* FloatingPointError: a floating-point flag was raised */

  /* 8xx: not implemented (NotImplementedError) */
  GUF_E_UNSUPPORTED = 800, /* valid, but not supported by this version or device */
  GUF_E_NO_IMAGE = 801,    /* no compiled kernel for this loop and device */
  GUF_E_CAPTURE = 802,     /* the call would allocate or wait during a stream capture */

  /* 9xx: no usable backend (RuntimeError) */
  GUF_E_NO_BACKEND = 900, /* no plugin of that name was found */
  GUF_E_NO_DRIVER = 901,  /* the vendor's driver library is missing or a stub */
  GUF_E_DRIVER_OLD = 902, /* the vendor's driver is older than the plugin requires */
  GUF_E_NO_DEVICE = 903,  /* the driver works but reports no usable device */
  GUF_E_ABI = 904,        /* a plugin or module of another ABI, ISA or kernel layout */
  GUF_E_UNTRUSTED = 905,  /* a file whose owner or mode the library does not accept */

  GUF_E_NO_MEMORY = 1000,     /* MemoryError: a host allocation failed */
  GUF_E_DEVICE_MEMORY = 1001, /* MemoryError: a device allocation failed */

  GUF_E_IO = 1100,       /* OSError: a file cannot be opened or read */
  GUF_E_BAD_FILE = 1101, /* OSError: a file is damaged, truncated or of another type */

  /* 12xx: run time (RuntimeError) */
  GUF_E_LAUNCH = 1200,      /* the backend refused a launch, or a launch failed */
  GUF_E_LOOP = 1201,        /* a user loop returned an error */
  GUF_E_CANCELLED = 1202,   /* cancelled by the caller */
  GUF_E_FORKED = 1203,      /* a stream or device of the parent process, used in a forked child */
  GUF_E_SHUTDOWN = 1204,    /* the library was shut down */
  GUF_E_DEVICE_LOST = 1300, /* the device failed and cannot be used again in this process */

  GUF_E_INTERNAL = 9900 /* a broken invariant of the library; please report it */
};

/** Floating-point flags, as bits of a word. They correspond to the categories of NumPy's errstate.
 * The library computes the flags from the values of operands and results (docs/fp-flags.md), not
 * from the processor's status flags, so the flags are the same on every backend. */
enum guf_fp_flag {
  GUF_FP_DIVIDE = 1u << 0,    /* an infinite result of finite operands at a pole: 1/0, log(0) */
  GUF_FP_OVERFLOW = 1u << 1,  /* any other infinite result of finite operands */
  GUF_FP_UNDERFLOW = 1u << 2, /* a result below the smallest normal number, from nonzero operands */
  GUF_FP_INVALID = 1u << 3,   /* a NaN result of operands that are not NaN: 0/0, sqrt(-1) */
  GUF_FP_INTEGER_DIVIDE = 1u << 4 /* division of an integer by zero */
};

/** Details of a failure. Every fallible function accepts a pointer to a guf_error as its last
 * parameter; NULL is always allowed.
 * Ownership  the caller owns the structure. It contains no pointers, so nothing has to be freed.
 *            The library keeps no thread-local error state, so any thread may read the structure.
 * The caller sets `struct_size` to sizeof(guf_error). With any other value the function leaves the
 * structure unchanged and reports the failure only through its status. The structure is written
 * only when a call fails. Its size is frozen at 512 bytes. */
typedef struct guf_error {
  uint32_t struct_size; /* sizeof(guf_error), set by the caller */
  guf_status status;    /* the status that the call returned */
  int32_t argument;     /* index of the operand or parameter that caused the failure, from 0; or
                           -1 */
  int32_t axis;        /* axis that caused the failure, from 0; of an axis that is out of range, its
                           position in `axes` or the number that the caller passed; or -1 */
  int32_t native_code; /* error code of the operating system or of the vendor's driver; or 0 */
  int32_t reserved;    /* 0 */
  char message[488];   /* one sentence, NUL-terminated, UTF-8 */
} guf_error;

/** Returns the name of a status code, such as "GUF_E_SHAPE", or "GUF_E_UNKNOWN" for a code that
 * this version does not define.
 * Ownership  static text, never freed.
 * [mt] [no-block] [no-alloc] */
GUF_API const char *guf_status_name(guf_status status);

/** Returns a one-line English description of a status code.
 * Ownership  static text, never freed.
 * [mt] [no-block] [no-alloc] */
GUF_API const char *guf_status_text(guf_status status);

GUF_END_DECLS

#endif /* GUFUNC_STATUS_H */
