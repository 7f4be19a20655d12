/* SPDX-License-Identifier: Apache-2.0
 * What the sources of the extension share: handles as Python objects, operands made of Python
 * objects, results made of arrays. Everything here runs with the GIL held. */
#ifndef GUFUNC_PYGUFUNC_H
#define GUFUNC_PYGUFUNC_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <gufunc/gufunc.h>

/* A loop over fewer elements than this is over before another thread could use the GIL. */
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

/* A handle and its one reference. `kind` stays GUFPY_KINDS until there is one. */
typedef struct {
  PyObject_HEAD PyObject *weak;
  void *handle;
  gufpy_kind kind;
} gufpy_handle;

enum { GUFPY_NEAR_NDIM = 6 };

/* What guf_array_get_info says, kept: none of it changes while an array lives. */
typedef struct {
  gufpy_handle base;
  guf_device device;
  uint64_t address, size, nbytes;
  guf_dtype dtype;
  uint32_t flags;
  int32_t ndim;
  int32_t on_host;
  int64_t *shape, *strides; /* `near`, or memory of their own */
  int64_t near[2 * GUFPY_NEAR_NDIM];
} gufpy_array;

/* Which type of result operands of these types gave. */
enum { GUFPY_FAST_INPUTS = 3, GUFPY_FAST_ENTRIES = 8 };
typedef struct {
  uint32_t keys[GUFPY_FAST_INPUTS];
  guf_dtype result;
} gufpy_learnt;

typedef struct {
  gufpy_handle base;
  vectorcallfunc call;
  uint32_t generation; /* that `learnt` is of */
  uint32_t next;
  gufpy_learnt learnt[GUFPY_FAST_ENTRIES];
  int32_t nin, nout;
  int32_t ncore;    /* 0: elementwise */
  int32_t nresults; /* of reduce, for a reduction with a state; else 0 */
  int32_t in_place; /* a signature without outputs: how many inputs are written */
  uint32_t written; /* bit i: input i is written */
} gufpy_ufunc;

/* What the Python layer gives the extension when it is imported. */
typedef struct {
  PyTypeObject *classes[GUFPY_KINDS];
  PyObject *make_error;      /* (status, message, argument, axis, native_code) -> exception */
  PyObject *make_refusal;    /* (message) -> exception */
  PyObject *convert;         /* an object that is no operand[, dtype] -> Array or ndarray */
  PyObject *as_indices;      /* indices of reduceat -> Array or ndarray of the host */
  PyObject *parse_dtype;     /* a spelling, type or dtype -> its code */
  PyObject *parse_signature; /* (signature, ufunc) -> codes */
  PyObject *as_stream;       /* (a stream or handle, device or None) -> Stream or None */
  PyObject *warn;            /* (events, ufunc) -> None: floating-point events were met */
  PyObject *warn_complex;    /* () -> None: a cast discards imaginary parts */
} gufpy_hooks;

extern gufpy_hooks gufpy;
extern PyTypeObject gufpy_handle_type, gufpy_array_type, gufpy_ufunc_type;

/* Errors. The record is the thread's; a call fills it and gufpy_raise reads it, with no Python
 * code between. */
guf_error *gufpy_error(void);
/** Sets the exception that `status` stands for; returns NULL. */
PyObject *gufpy_raise(guf_status status, const guf_error *error);
/** Whether a call that failed is worth another try: memory ran out, and what reference cycles held
 * is let go of now. Not of what works in place, which may be half done. */
int gufpy_made_room(guf_status status);
/** Refuses a call's arguments, as GUF_E_ARG, before the library is asked; returns -1. */
int gufpy_refuse(const char *format, ...);
/** Keeps the present exception for the next gufpy_raise of this thread whose message is the text
 * that is written into `error`; NULL: for the next one. Work of a stream runs when somebody waits,
 * who need not be told of it. */
void gufpy_carry_exception(guf_error *error);

/* Handles. */
/** Takes over the reference; releases it on failure. */
PyObject *gufpy_wrap_handle(gufpy_kind kind, void *handle);
/** None gives NULL. Returns 0, or -1 with TypeError. */
int gufpy_get_handle(PyObject *object, gufpy_kind kind, void **out_handle);
PyObject *gufpy_wrap_array(guf_array handle);
/** The live object of a ufunc, or NULL without an exception. */
PyObject *gufpy_find_ufunc(void *handle);
/** Makes an object its ufunc's one object. 0, or -1. */
int gufpy_add_ufunc(gufpy_handle *object);
void gufpy_remove_ufunc(void *handle);
int gufpy_is_host(guf_device device);
/** Waits until nothing that the library was given uses the array's bytes. 0, or -1. */
int gufpy_settle(const gufpy_array *array);
/** The release callback of memory that a Python object owns. */
void gufpy_release_object(void *user, uint64_t address);
/** Fills `out` with integers of a sequence; its length, or -1. */
int gufpy_integers(PyObject *sequence, int64_t *out, int capacity, const char *what);
/** The same for an axis or a tuple of axes: NumPy accepts no bools and no lists there. */
int gufpy_axes(PyObject *axes, int64_t *out, int capacity, const char *what);

/* Visits: callbacks of the library into Python. An interpreter that ends has any other thread that
 * asks for the GIL exit, by an unwinding that the library's frames below do not let through: such a
 * thread is refused, or where it is inside stays, as newer interpreters have it. */
typedef struct {
  PyGILState_STATE state;
  int inside;
} gufpy_visit;
void gufpy_visit_stay(gufpy_visit *visit);
#define GUFPY_VISIT(name) __attribute__((cleanup(gufpy_visit_stay))) gufpy_visit name = {0}
/** Takes the GIL. 0: the interpreter ends, or has ended, and nothing of it may be touched. */
int gufpy_visit_begin(gufpy_visit *visit);
void gufpy_visit_end(gufpy_visit *visit);
/** Whether the interpreter ends: all threads but the one that ends it have lost the GIL. */
int gufpy_is_ending(void);
/** 0, with RecursionError, where the thread's stack is too short for one call more. */
int gufpy_has_stack(void);

/* Operands. */
enum { GUFPY_MAX_OPERANDS = GUF_MAX_NDIM + 4 }; /* `at` has one index per axis */

typedef struct {
  int nkept, nwraps;
  int arrays;     /* operands that are arrays of this package */
  int queued;     /* with a stream: memory of others is wrapped, so that the library keeps it */
  int elsewhere;  /* an operand lies on a device */
  uint64_t pairs; /* product of the operands' sizes: no loop has more steps */
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
/** Makes a scalar, which every device takes, of a 0-d tensor of the host. 0: it is no number. */
int gufpy_take_value(const guf_tensor *tensor, guf_operand *operand);
/** The same for an output: None is GUF_OPERAND_NONE, all else must be an array. */
int gufpy_set_output(gufpy_frame *frame, PyObject *object, guf_operand *operand);
/** Weak ints beyond 64 bits become floats where all other operands are, or the loop's dtype. */
void gufpy_settle_huge(const gufpy_frame *frame, PyObject *const *objects, guf_operand *operands,
                       int count, guf_dtype dtype);
/** The object for an allocated output, whose reference it takes over. */
PyObject *gufpy_result(const gufpy_frame *frame, guf_array handle);
/** Whether the operands broadcast to that many elements, and the interpreter does not end. */
int gufpy_is_long(const gufpy_frame *frame);
/** Whether the call goes without the GIL. One that keeps it runs on this thread alone, threads 1:
 * loops behind addresses may take the GIL, on whichever thread they are. `all`: the loop may pair
 * all elements of the operands instead of broadcasting them. */
static inline int gufpy_is_large(const gufpy_frame *frame, int all) {
  if (frame->pairs < GUFPY_LARGE_WORK && !frame->elsewhere && !frame->queued) return 0;
  return all || frame->elsewhere || frame->queued ? !gufpy_is_ending() : gufpy_is_long(frame);
}

/* NumPy, used where the program has it: nothing is linked, and nothing imported before it is
 * needed. */
int gufpy_numpy_ready(void);
/** Whether an object is read as an ndarray. Of subclasses only memmap is; the others are refused
 * (gufunc/_foreign.py). */
int gufpy_is_ndarray(PyObject *object);
/** Whether an object is written as an ndarray: subclasses without a protocol of their own, too. */
int gufpy_is_output_ndarray(PyObject *object);
int gufpy_is_numpy_scalar(PyObject *object);
int gufpy_numpy_tensor(PyObject *ndarray, guf_tensor *out_tensor);
/** An ndarray over an array of the host; a scalar of NumPy for a 0-d one, if `scalar`. */
PyObject *gufpy_numpy_result(gufpy_array *array, int scalar);

/** A new ndarray in C order, of unspecified values; a scalar of the element at `data`. */
PyObject *gufpy_numpy_new(guf_dtype dtype, int32_t ndim, const int64_t *shape);
PyObject *gufpy_numpy_scalar(guf_dtype dtype, void *data);

/* Calls. */
typedef struct {
  PyObject *out, *where, *initial, *axis; /* NULL: not given. All borrowed */
  PyObject *foreign;                      /* a stream that is no Stream, or NULL */
  guf_stream stream;
  guf_device device;
  int32_t casting, order, host_policy, keepdims, no_scalar;
  int32_t in_method;  /* of a method, whose parameters NumPy reads by other rules than a call's */
  int32_t has_out;    /* out= was given, if only as None */
  int32_t empty_axes; /* an output whose entry of axes= is empty, or 0 */
  guf_dtype dtype;
  uint32_t threads;
  int nsignature, naxes, ndims;
  guf_dtype signature[GUF_MAX_OPERANDS];
  int64_t axes[GUF_MAX_CORE_STRIDES];
  guf_dim dims[GUF_MAX_CORE_NAMES];
} gufpy_keywords;

void gufpy_keywords_begin(gufpy_keywords *keywords, int in_method);
int gufpy_keyword(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *name,
                  PyObject *value);
/** All of a vectorcall's keywords, which lie behind its positional arguments. */
int gufpy_read_keywords(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *const *values,
                        PyObject *names);

/** The operand of where=; objects that are converted are kept by the frame. */
int gufpy_set_mask(gufpy_frame *frame, PyObject *object, guf_operand *operand);
/** The indices of reduceat: lists become integers, and what lies on a device is copied. */
int gufpy_set_indices(gufpy_frame *frame, PyObject *object, guf_operand *operand);

/** Makes a Stream of a foreign one, kept by the frame: of the device of the arrays among a call's
 * `count` arguments, where `device` is not given. */
int gufpy_settle_stream(gufpy_frame *frame, gufpy_keywords *keywords, PyObject *const *args,
                        Py_ssize_t count);

/* Which floating-point events this thread's calls look for (gufunc.errstate). */
typedef struct {
  uint32_t report, fail;
} gufpy_events;
extern _Thread_local gufpy_events gufpy_thread_events;
/** Warns of `events`; -1 where the warning is an error. */
int gufpy_tell_events(uint32_t events, const gufpy_ufunc *ufunc);
/** Whether a dtype is complex. */
static inline int gufpy_is_complex_dtype(guf_dtype dtype) {
  return (dtype & 0xff) == 5;
}

/* A call between its Python arguments and its Python results. */
typedef struct {
  gufpy_ufunc *ufunc;
  int nout; /* outputs of this call: of a function that writes its inputs 0, or one for each */
  gufpy_frame frame;
  gufpy_keywords keywords;
  guf_call_args args;
  guf_operand operands[GUF_MAX_OPERANDS];
  guf_operand where;
  int64_t one_axis;
  uint32_t events;
  PyObject *given[GUF_MAX_OPERANDS]; /* outputs, borrowed; NULL or None: to allocate */
} gufpy_call;

/** 0, or -1 with an exception; gufpy_call_end follows in either case. */
int gufpy_call_begin(gufpy_call *call, PyObject *ufunc, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *names);
void gufpy_call_end(gufpy_call *call);
/** The results of a call that succeeded. */
PyObject *gufpy_call_results(gufpy_call *call);
/** Warns, as NumPy, of results that where= leaves unspecified. -1 where the warning is an error. */
int gufpy_warn_where(const gufpy_call *call);
/** Warns, as NumPy, of complex numbers that casting='unsafe' makes real. The same. */
int gufpy_warn_complex_call(const gufpy_call *call);
PyObject *gufpy_ufunc_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);
PyObject *gufpy_ufunc_outer(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *names);
extern PyMethodDef gufpy_ufunc_methods[];

/* A method between the same. `accumulate` serves reduceat too. */
typedef struct {
  gufpy_ufunc *ufunc;
  gufpy_frame frame;
  gufpy_keywords keywords;
  guf_reduce_args reduce;
  guf_accumulate_args accumulate;
  guf_at_args at;
  guf_operand input, indices, initial, where;
  guf_operand several[GUF_MAX_NDIM]; /* indices of at */
  guf_operand outputs[GUF_MAX_OPERANDS];
  int noutputs;
  int64_t axes[GUF_MAX_NDIM];
  uint32_t events;
  PyObject *given[GUF_MAX_OPERANDS];
} gufpy_method;

/* Results that NumPy allocates: of elementwise calls on ndarrays and numbers that need no
 * broadcasting, once the result's type is known. `element` is a 0-d result's memory. */
typedef struct {
  int state;          /* 0: not such a call; 1: its type is to be learnt; 2: the output is set */
  gufpy_learnt found; /* its keys, and in state 2 the result */
  PyObject *array;
  guf_tensor tensor;
  uint64_t element[2];
} gufpy_fast;
/** Sets fast->state; -1 with an exception. */
int gufpy_fast_begin(gufpy_fast *fast, gufpy_call *call);
/** The result of a call that succeeded, where the state is not 0. */
PyObject *gufpy_fast_result(gufpy_fast *fast, gufpy_call *call);
/** Loops were added: what was learnt may be no more. */
void gufpy_fast_forget(void);

typedef enum { GUFPY_REDUCE, GUFPY_ACCUMULATE, GUFPY_REDUCEAT, GUFPY_AT } gufpy_method_kind;
int gufpy_method_begin(gufpy_method *method, gufpy_method_kind kind, PyObject *ufunc,
                       PyObject *const *args, Py_ssize_t nargs, PyObject *names);
/** As gufpy_warn_complex_call: methods cast to a type or an output that was given. */
int gufpy_warn_complex_method(const gufpy_method *method, gufpy_method_kind kind);

/** A ufunc's own name, for messages: the thread's until the next one. */
const char *gufpy_name(const gufpy_ufunc *ufunc);

/* What the extension's module gets besides SWIG's functions. */
extern PyMethodDef gufpy_array_functions[], gufpy_call_functions[], gufpy_numpy_functions[],
    gufpy_callback_functions[], gufpy_prepared_functions[];
extern PyMethodDef gufpy_dlpack_functions[], gufpy_pointer_functions[];
/** Adds types and functions. */
int gufpy_add_to(PyObject *module);

#endif /* GUFUNC_PYGUFUNC_H */
