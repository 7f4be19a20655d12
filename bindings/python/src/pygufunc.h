/* SPDX-License-Identifier: Apache-2.0
 * Declarations shared by the sources of the extension: handles as Python objects, operands from
 * Python objects, and results from arrays. All functions must be called with the GIL held. */
#ifndef GUFUNC_PYGUFUNC_H
#define GUFUNC_PYGUFUNC_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <gufunc/gufunc.h>

/* A loop over fewer elements than this finishes before another thread could use the GIL. */
enum { GUFPY_LARGE_WORK = 1 << 15 };

typedef enum {
  GUFPY_CONTEXT,
  GUFPY_DEVICE,
  GUFPY_ARRAY,
  GUFPY_STREAM,
  GUFPY_EVENT,
  GUFPY_GRAPH,
  GUFPY_UFUNC,
  GUFPY_MODULE,
  GUFPY_PLAN,
  GUFPY_KERNEL,
  GUFPY_KINDS
} gufpy_kind;

/* A Python object that owns one reference to a library object. `kind` is GUFPY_KINDS until the
 * object has a handle. */
typedef struct {
  PyObject_HEAD PyObject *weak;
  void *handle;
  gufpy_kind kind;
} gufpy_handle;

enum { GUFPY_NEAR_NDIM = 6 };

/* An array with a copy of its guf_array_info, whose fields do not change while the array lives. */
typedef struct {
  gufpy_handle base;
  guf_device device;
  uint64_t address, size, nbytes;
  guf_dtype dtype;
  uint32_t flags;
  int32_t ndim;
  int32_t on_host;
  int64_t *shape, *strides; /* point to `near`, or to allocated memory */
  int64_t near[2 * GUFPY_NEAR_NDIM];
} gufpy_array;

/* The result dtype for operands of certain dtypes, known from an earlier call. */
enum { GUFPY_FAST_INPUTS = 3, GUFPY_FAST_ENTRIES = 8 };
typedef struct {
  uint32_t keys[GUFPY_FAST_INPUTS];
  guf_dtype result;
} gufpy_dtype_cache_entry;

typedef struct {
  gufpy_handle base;
  vectorcallfunc call;
  uint32_t generation; /* generation of the entries in `dtype_cache` */
  uint32_t next;
  gufpy_dtype_cache_entry dtype_cache[GUFPY_FAST_ENTRIES];
  int32_t nin, nout;
  int32_t ncore;    /* number of core dimensions; 0 if elementwise */
  int32_t nresults; /* number of results of a user-defined accumulator; 0 without one */
  int32_t in_place; /* the number of inputs written by a signature without outputs */
  uint32_t written; /* bit i: input i is written */
} gufpy_ufunc;

/* Classes and functions that the Python package registers when it is imported. */
typedef struct {
  PyTypeObject *classes[GUFPY_KINDS];
  PyObject *make_error;      /* (status, message, argument, axis, native_code) -> exception */
  PyObject *make_refusal;    /* (message) -> exception */
  PyObject *convert;         /* (any other object[, dtype]) -> Array or ndarray */
  PyObject *as_indices;      /* (indices of reduceat) -> Array or ndarray in host memory */
  PyObject *parse_dtype;     /* (a name, type or dtype) -> its code */
  PyObject *parse_signature; /* (signature, ufunc) -> codes */
  PyObject *as_stream;       /* (a stream or handle, device or None) -> Stream or None */
  PyObject *warn;            /* (flags, ufunc) -> None: warns about floating-point flags */
  PyObject *warn_complex;    /* () -> None: a cast discards imaginary parts */
} gufpy_hooks;

extern gufpy_hooks gufpy;
extern PyTypeObject gufpy_handle_type, gufpy_array_type, gufpy_ufunc_type;

/* Errors. Each thread has one error record. A call fills it and gufpy_raise reads it; no Python
 * code may run in between. */
guf_error *gufpy_error(void);
/** Sets the exception for `status`. Returns NULL. */
PyObject *gufpy_raise(guf_status status, const guf_error *error);
/** Collects garbage if a call failed because it ran out of memory. Returns whether the call should
 * be repeated, because arrays in reference cycles may now be free. Calls that work in place must
 * not be repeated, because they may have changed their operands already. */
int gufpy_freed_memory(guf_status status);
/** Sets the exception for wrong arguments (GUF_E_ARG) without calling the library. Returns -1. */
int gufpy_refuse(const char *format, ...);
/** Stores the current exception and writes its text into `error`. The next gufpy_raise of this
 * thread raises the stored exception if the message of its error starts with this text, or if
 * `error` was NULL. The texts are compared because a callback of queued work may run while another
 * call waits, and the error may then belong to that call. */
void gufpy_carry_exception(guf_error *error);

/* Handles. */
/** Takes ownership of the reference, even on failure. */
PyObject *gufpy_wrap_handle(gufpy_kind kind, void *handle);
/** Writes the handle of an object, or NULL for None. Returns 0, or -1 with TypeError. */
int gufpy_get_handle(PyObject *object, gufpy_kind kind, void **out_handle);
PyObject *gufpy_wrap_array(guf_array handle);
/** Returns the live Python object of a ufunc, or NULL (without an exception) if there is none. */
PyObject *gufpy_find_ufunc(void *handle);
/** Registers the single Python object of a ufunc. Returns 0 or -1. */
int gufpy_add_ufunc(gufpy_handle *object);
void gufpy_remove_ufunc(void *handle);
int gufpy_is_host(guf_device device);
/** Waits until no work of the library uses the array's memory. Returns 0 or -1. */
int gufpy_synchronize_array(const gufpy_array *array);
/** The release callback of memory that a Python object owns. */
void gufpy_release_object(void *user, uint64_t address);
/** Fills `out` with the integers of a sequence. Returns their number, or -1. */
int gufpy_integers(PyObject *sequence, int64_t *out, int capacity, const char *what);
/** Like gufpy_integers, for an axis or a tuple of axes. As in NumPy, bools and lists are
 * rejected. */
int gufpy_axes(PyObject *axes, int64_t *out, int capacity, const char *what);

/* The state of a callback of the library that enters Python. While an interpreter is being
 * finalized, any other thread that requests the GIL exits by unwinding its stack, which the
 * library's frames do not permit. A callback on such a thread is therefore rejected before it
 * requests the GIL. A thread that is already inside Python blocks forever, as in newer
 * interpreters. */
typedef struct {
  PyGILState_STATE state;
  int inside;
} gufpy_entry;
void gufpy_entry_block(gufpy_entry *entry);
#define GUFPY_ENTRY(name) __attribute__((cleanup(gufpy_entry_block))) gufpy_entry name = {0}
/** Acquires the GIL. Returns 0 if the interpreter is being finalized or has been finalized. The
 * caller must then not use Python. */
int gufpy_entry_begin(gufpy_entry *entry);
void gufpy_entry_end(gufpy_entry *entry);
/** Whether the interpreter is being finalized. Only the finalizing thread can then have the GIL. */
int gufpy_is_ending(void);
/** Whether the thread's stack suffices for one more call. Returns 0 with RecursionError if not. */
int gufpy_has_stack(void);

/* Operands. */
enum { GUFPY_MAX_OPERANDS = GUF_MAX_NDIM + 4 }; /* `at` has one index per axis */

typedef struct {
  int nkept, nwraps;
  int arrays;     /* number of operands that are arrays of this package */
  int queued;     /* the call has a stream, so foreign memory is wrapped to keep it alive */
  int elsewhere;  /* an operand is in device memory, or device= is passed */
  uint64_t pairs; /* product of the operands' sizes, an upper bound for the steps of a loop */
  int huge;       /* a weak int that only a float can hold */
  int no_scalar;  /* out=...: a 0-d result is an array */
  PyObject *kept[GUFPY_MAX_OPERANDS];
  guf_array wraps[GUFPY_MAX_OPERANDS];
  guf_tensor tensors[GUFPY_MAX_OPERANDS];
  struct {
    const int64_t *extents;
    int32_t ndim;
  } shapes[GUFPY_MAX_OPERANDS];
  int ntensors, nshapes;
} gufpy_frame;

static inline void gufpy_frame_begin(gufpy_frame *frame, int queued) {
  frame->nkept = frame->nwraps = frame->ntensors = frame->nshapes = 0;
  frame->arrays = frame->elsewhere = frame->huge = frame->no_scalar = 0;
  frame->pairs = 1;
  frame->queued = queued;
}
void gufpy_frame_end(gufpy_frame *frame);
int gufpy_set_operand(gufpy_frame *frame, PyObject *object, guf_operand *operand);
/** Converts a 0-d tensor in host memory to a scalar, which is a valid operand on every device.
 * Returns 0 if its element is not a number. */
int gufpy_take_value(const guf_tensor *tensor, guf_operand *operand);
/** Sets an output: None becomes GUF_OPERAND_NONE; other objects must be arrays. */
int gufpy_set_output(gufpy_frame *frame, PyObject *object, guf_operand *operand);
/** Converts weak ints beyond 64 bits to floats if all other operands or `dtype` are floats. */
void gufpy_convert_huge(const gufpy_frame *frame, PyObject *const *objects, guf_operand *operands,
                        int count, guf_dtype dtype);
/** The Python object for an allocated output. Takes ownership of the reference. */
PyObject *gufpy_result(const gufpy_frame *frame, guf_array handle);
/** Whether the operands broadcast to at least GUFPY_LARGE_WORK elements and the interpreter is not
 * being finalized. */
int gufpy_exceeds_gil_threshold(const gufpy_frame *frame);
/** Whether the call releases the GIL. A call that keeps the GIL runs only on this thread (threads =
 * 1), because loops that were added by address may acquire the GIL on any thread. `all` means that
 * the loop may combine all pairs of elements instead of broadcasting the operands. */
static inline int gufpy_releases_gil(const gufpy_frame *frame, int all) {
  if (frame->pairs < GUFPY_LARGE_WORK && !frame->elsewhere && !frame->queued) return 0;
  return all || frame->elsewhere || frame->queued ? !gufpy_is_ending()
                                                  : gufpy_exceeds_gil_threshold(frame);
}

/* NumPy is optional: the extension does not link to it, and imports it when it is first needed. */
int gufpy_numpy_ready(void);
/** Whether an object is accepted as an ndarray input. The only accepted subclass is memmap; other
 * subclasses are rejected (gufunc/_foreign.py). */
int gufpy_is_ndarray(PyObject *object);
/** Whether an object is accepted as an ndarray output. Subclasses that do not override NumPy's
 * protocols are also accepted. */
int gufpy_is_output_ndarray(PyObject *object);
int gufpy_is_numpy_scalar(PyObject *object);
int gufpy_numpy_tensor(PyObject *ndarray, guf_tensor *out_tensor);
/** An ndarray over a host array. With `scalar`, a 0-d array becomes a NumPy scalar. */
PyObject *gufpy_numpy_result(gufpy_array *array, int scalar);

/** gufpy_numpy_new returns a new ndarray of unspecified values in C order, and gufpy_numpy_scalar
 * returns a NumPy scalar of the element at `data`. */
PyObject *gufpy_numpy_new(guf_dtype dtype, int32_t ndim, const int64_t *shape);
PyObject *gufpy_numpy_scalar(guf_dtype dtype, void *data);

/* Calls. */
typedef struct {
  /* Borrowed; NULL if not passed. */
  PyObject *out, *where, *initial, *axis, *parameters;
  PyObject *foreign; /* a stream of another library, or NULL */
  guf_stream stream;
  guf_device device;
  int32_t casting, order, host_policy, keepdims, no_scalar;
  int32_t in_method; /* keywords of a method, for which NumPy has other rules than for a call */
  int32_t has_out;   /* out= was given, possibly as None */
  int32_t has_axes;  /* axes= was given */
  guf_dtype dtype;
  uint32_t threads;
  int nsignature, naxes, ndims;
  guf_dtype signature[GUF_MAX_OPERANDS];
  guf_core_axes axes[GUF_MAX_OPERANDS];
  int64_t axis_of_axes[GUF_MAX_CORE_STRIDES]; /* the entries of `axes` point to its elements */
  guf_dim dims[GUF_MAX_CORE_NAMES];
} gufpy_keywords;

void gufpy_keywords_begin(gufpy_keywords *keywords, int in_method);
int gufpy_keyword(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *name,
                  PyObject *value);
/** Reads all keywords of a vectorcall. Their values follow the positional arguments. */
int gufpy_read_keywords(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *const *values,
                        PyObject *names);

/** Sets the operand for where=. The frame keeps converted objects alive. */
int gufpy_set_mask(gufpy_frame *frame, PyObject *object, guf_operand *operand);
/** Sets the indices of reduceat. Lists become integers, and device arrays are copied to the
 * host. */
int gufpy_set_indices(gufpy_frame *frame, PyObject *object, guf_operand *operand);

/** Converts a foreign stream to a Stream, which the frame keeps alive. If the keywords select no
 * device, the arrays among the call's `count` arguments determine the device. */
int gufpy_convert_stream(gufpy_frame *frame, gufpy_keywords *keywords, PyObject *const *args,
                         Py_ssize_t count);

/* The floating-point flags that calls of this thread report, and the flags that make these calls
 * fail (gufunc.errstate). */
typedef struct {
  uint32_t report, fail;
} gufpy_fp_flags;
extern _Thread_local gufpy_fp_flags gufpy_thread_fp_flags;
/** Warns about the flags `fp_flags`. Returns -1 if the warning is an error. */
int gufpy_report_fp_flags(uint32_t fp_flags, const gufpy_ufunc *ufunc);
static inline int gufpy_is_complex_dtype(guf_dtype dtype) {
  return (dtype & 0xff) == 5;
}

/* The state of a call, from its Python arguments to its Python results. */
typedef struct {
  gufpy_ufunc *ufunc;
  int nout; /* number of outputs; 0 or in_place for a ufunc that writes its inputs */
  gufpy_frame frame;
  gufpy_keywords keywords;
  guf_call_args args;
  guf_operand operands[GUF_MAX_OPERANDS];
  guf_operand where;
  int64_t one_axis;
  uint32_t fp_flags;
  PyObject *given[GUF_MAX_OPERANDS]; /* outputs, borrowed; NULL or None: allocate */
} gufpy_call;

/** Returns 0, or -1 with an exception. The caller must call gufpy_call_end in both cases. */
int gufpy_call_begin(gufpy_call *call, PyObject *ufunc, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *names);
void gufpy_call_end(gufpy_call *call);
/** The Python results of a successful call. */
PyObject *gufpy_call_results(gufpy_call *call);
/** Warns, like NumPy, if where= leaves elements of results unspecified. Returns -1 if the warning
 * is an error. */
int gufpy_warn_where(const gufpy_call *call);
/** Warns, like NumPy, if casting='unsafe' discards imaginary parts. Returns -1 if the warning is an
 * error. */
int gufpy_warn_complex_call(const gufpy_call *call);
PyObject *gufpy_ufunc_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);
PyObject *gufpy_ufunc_outer(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *names);
extern PyMethodDef gufpy_ufunc_methods[];

/* The state of a method. The field `accumulate` is also used for reduceat. */
typedef struct {
  gufpy_ufunc *ufunc;
  gufpy_frame frame;
  gufpy_keywords keywords;
  guf_reduce_args reduce;
  guf_accumulate_args accumulate;
  guf_at_args at;
  guf_operand input, indices, initial, where;
  guf_operand several[GUF_MAX_NDIM]; /* indices of at, parameters of reduce */
  guf_operand outputs[GUF_MAX_OPERANDS];
  int noutputs;
  int64_t axes[GUF_MAX_NDIM];
  uint32_t fp_flags;
  PyObject *given[GUF_MAX_OPERANDS];
} gufpy_method;

/* The result of a call for which NumPy allocates the memory. Such calls are elementwise calls on
 * ndarrays and numbers without broadcasting whose result dtype is known from an earlier call.
 * `element` contains a 0-d result. */
typedef struct {
  int state; /* 0: not such a call; 1: the dtype is not known yet; 2: the output is set */
  gufpy_dtype_cache_entry found; /* the keys of the call, and in state 2 the result dtype */
  PyObject *array;
  guf_tensor tensor;
  uint64_t element[2];
} gufpy_fast;
/** Sets fast->state. Returns 0, or -1 with an exception. */
int gufpy_fast_begin(gufpy_fast *fast, gufpy_call *call);
/** The result of a successful call. The state must not be 0. */
PyObject *gufpy_fast_result(gufpy_fast *fast, gufpy_call *call);
/** Discards all cached result dtypes. Called when loops are added, which may change them. */
void gufpy_fast_forget(void);

typedef enum { GUFPY_REDUCE, GUFPY_ACCUMULATE, GUFPY_REDUCEAT, GUFPY_AT } gufpy_method_kind;
int gufpy_method_begin(gufpy_method *method, gufpy_method_kind kind, PyObject *ufunc,
                       PyObject *const *args, Py_ssize_t nargs, PyObject *names);
/** Like gufpy_warn_complex_call, for methods, which cast to the dtype or output of the
 * arguments. */
int gufpy_warn_complex_method(const gufpy_method *method, gufpy_method_kind kind);
/* Returns the request for a method, which borrows the arguments of the method. */
guf_request gufpy_method_request(const gufpy_method *method, gufpy_method_kind kind);

/** A ufunc's short name, for messages. Valid until the next call on the same thread. */
const char *gufpy_name(const gufpy_ufunc *ufunc);

/* The functions of the extension module in addition to SWIG's. */
extern PyMethodDef gufpy_array_functions[], gufpy_call_functions[], gufpy_numpy_functions[],
    gufpy_callback_functions[], gufpy_prepared_functions[];
extern PyMethodDef gufpy_dlpack_functions[], gufpy_pointer_functions[];
/** Adds the types and functions to the module. */
int gufpy_add_to(PyObject *module);

#endif /* GUFUNC_PYGUFUNC_H */
