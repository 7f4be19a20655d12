/* SPDX-License-Identifier: Apache-2.0
 * Callbacks of the library: loops and hooks written in Python, and progress functions. Each
 * callback acquires the GIL on the thread of the call. If a callback raises an exception, the call
 * ends and raises the same exception. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getattr_np */
#endif
#include <pthread.h>
#include <unistd.h>

#include "pygufunc.h"

/* Entering Python, which requires the GIL and enough stack. Callbacks must not enter Python while
 * the interpreter is being finalized. */

int gufpy_is_ending(void) {
#if PY_VERSION_HEX >= 0x030d0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

int gufpy_entry_begin(gufpy_entry *entry) {
  if (gufpy_is_ending() && (!Py_IsInitialized() || !PyGILState_Check())) return 0;
  entry->inside = 1;
  entry->state = PyGILState_Ensure();
  return 1;
}

void gufpy_entry_end(gufpy_entry *entry) {
  PyGILState_Release(entry->state);
  entry->inside = 0;
}

void gufpy_entry_block(gufpy_entry *entry) {
  if (!entry->inside || !gufpy_is_ending()) return;
  for (;;) pause();
}

/* The number of bytes that must be free on the stack when a callback starts, but at most half of
 * the stack. The library and the interpreter use this space without another check until the next
 * callback. */
enum { STACK_LEFT = 512 << 10 };

int gufpy_has_stack(void) {
  static _Thread_local uintptr_t start, least; /* `start` is 0 until it is queried */
  if (start == 0) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    start = least = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0 && lowest != NULL) {
      start = (uintptr_t)lowest;
      least = start + (size / 2 < STACK_LEFT ? size / 2 : STACK_LEFT);
    }
    (void)pthread_attr_destroy(&attributes);
  }
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  /* An address below `start` means that the thread runs on a stack that the program allocated (a
   * coroutine), whose size is unknown. An address of at least `least` means that enough stack is
   * left. */
  if (here < start || here >= least) return 1;
  PyErr_SetString(PyExc_RecursionError,
                  "maximum recursion depth exceeded: the end of the stack is near");
  return 0;
}

typedef struct {
  PyObject *function;
  int nargs, ncore;
} python_loop;

static void drop_loop(void *user) {
  python_loop *loop = user;
  gufpy_release_object(loop->function, 0);
  PyMem_RawFree(loop);
}

/* The result of a callback that must not enter Python because the interpreter is being
 * finalized. */
static guf_status refuse_entry(guf_error *error) {
  strcpy(error->message, "the interpreter is shutting down");
  return GUF_E_LOOP;
}

/* Calls function(addresses, dims, steps) with the arguments of NumPy's inner loop as tuples of
 * integers. */
static guf_status run_loop(char **args, const int64_t *dims, const int64_t *steps, void *user,
                           guf_error *error) {
  const python_loop *loop = user;
  GUFPY_ENTRY(entry);
  if (!gufpy_entry_begin(&entry)) return refuse_entry(error);
  const int ndims = 1 + (loop->ncore & 0xff), nsteps = loop->nargs + (loop->ncore >> 8);
  PyObject *addresses = PyTuple_New(loop->nargs), *sizes = PyTuple_New(ndims),
           *strides = PyTuple_New(nsteps), *done = NULL;
  if (addresses != NULL && sizes != NULL && strides != NULL) {
    for (int i = 0; i < loop->nargs; ++i) {
      PyTuple_SET_ITEM(addresses, i, PyLong_FromVoidPtr(args[i]));
    }
    for (int i = 0; i < ndims; ++i) PyTuple_SET_ITEM(sizes, i, PyLong_FromLongLong(dims[i]));
    for (int i = 0; i < nsteps; ++i) PyTuple_SET_ITEM(strides, i, PyLong_FromLongLong(steps[i]));
    if (!PyErr_Occurred() && gufpy_has_stack()) {
      done = PyObject_CallFunctionObjArgs(loop->function, addresses, sizes, strides, NULL);
    }
  }
  Py_XDECREF(addresses);
  Py_XDECREF(sizes);
  Py_XDECREF(strides);
  if (done == NULL) gufpy_carry_exception(error);
  Py_XDECREF(done);
  gufpy_entry_end(&entry);
  return done == NULL ? GUF_E_LOOP : GUF_OK;
}

/* add_loop(ufunc, types, function or address, kind, flags, ncore, user) */
static PyObject *add_loop(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *ufunc = NULL, *types = NULL, *function = NULL;
  unsigned long long user = 0;
  int kind = 0, ncore = 0;
  unsigned int flags = 0;
  void *handle = NULL;
  if (!PyArg_ParseTuple(args, "OOOiIiK:add_loop", &ufunc, &types, &function, &kind, &flags, &ncore,
                        &user) ||
      gufpy_get_handle(ufunc, GUFPY_UFUNC, &handle) != 0) {
    return NULL;
  }
  int64_t codes[GUF_MAX_OPERANDS];
  guf_dtype dtypes[GUF_MAX_OPERANDS];
  const int count = gufpy_integers(types, codes, GUF_MAX_OPERANDS, "types");
  if (count < 0) return NULL;
  for (int i = 0; i < count; ++i) dtypes[i] = (guf_dtype)codes[i];
  guf_loop_desc desc = {.struct_size = sizeof desc, .kind = kind, .flags = flags};
  desc.ntypes = count;
  desc.types = dtypes;
  if (PyLong_Check(function) && !PyBool_Check(function)) {
    void *address = PyLong_AsVoidPtr(function);
    if (address == NULL) {
      if (!PyErr_Occurred()) gufpy_refuse("the loop's address is NULL");
      return NULL;
    }
    if (kind == GUF_LOOP_NUMPY) memcpy(&desc.numpy, &address, sizeof address);
    if (kind == GUF_LOOP_STATUS) memcpy(&desc.status, &address, sizeof address);
    if (kind == GUF_LOOP_ERROR) memcpy(&desc.error, &address, sizeof address);
    desc.user = (void *)(uintptr_t)user;
  } else if (!PyCallable_Check(function)) {
    gufpy_refuse("loop: expected a callable or an address, got %R", function);
    return NULL;
  } else {
    python_loop *loop = PyMem_RawMalloc(sizeof *loop);
    if (loop == NULL) return PyErr_NoMemory();
    loop->function = Py_NewRef(function);
    loop->nargs = count;
    loop->ncore = ncore;
    desc.kind = GUF_LOOP_ERROR;
    /* Only one thread at a time can hold the GIL, so the other threads would only wait. A callable
     * that ran on another thread would also raise its exception there, and not in the call. */
    desc.flags &= ~(uint32_t)GUF_LOOP_ANY_THREAD;
    desc.error = run_loop;
    desc.user = loop;
    desc.destroy = drop_loop;
  }
  guf_error *error = gufpy_error();
  const guf_status status = guf_ufunc_add_loop(handle, &desc, error);
  if (status == GUF_OK) Py_RETURN_NONE;
  if (desc.destroy != NULL) drop_loop(desc.user);
  return gufpy_raise(status, error);
}

static void drop_object(void *user) {
  gufpy_release_object(user, 0);
}

/* Calls function(sizes), which returns None or the sizes with each -1 replaced. */
static guf_status core_dims(int32_t ndims, int64_t *sizes, void *user, guf_error *error) {
  GUFPY_ENTRY(entry);
  if (!gufpy_entry_begin(&entry)) return refuse_entry(error);
  PyObject *list = PyList_New(ndims), *answer = NULL;
  for (int32_t i = 0; list != NULL && i < ndims; ++i) {
    PyList_SET_ITEM(list, i, PyLong_FromLongLong(sizes[i]));
  }
  if (list != NULL && !PyErr_Occurred() && gufpy_has_stack())
    answer = PyObject_CallOneArg(user, list);
  int64_t filled[GUF_MAX_CORE_NAMES];
  int failed = answer == NULL;
  if (!failed && answer != Py_None) {
    const int count = gufpy_integers(answer, filled, GUF_MAX_CORE_NAMES, "sizes");
    if (count >= 0 && count != ndims) {
      gufpy_refuse("sizes from core_dims: expected %d, got %d", ndims, count);
    }
    failed = count != ndims;
    for (int32_t i = 0; !failed && i < ndims; ++i) sizes[i] = filled[i];
  }
  if (failed) gufpy_carry_exception(error);
  Py_XDECREF(list);
  Py_XDECREF(answer);
  gufpy_entry_end(&entry);
  return failed ? GUF_E_VALUE : GUF_OK;
}

/* ufunc_create(context, name, nin, nout, signature, rules, doc, identity, flags, roles, hook) */
static PyObject *ufunc_create(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *context = NULL, *roles = NULL, *hook = NULL;
  guf_ufunc_desc desc = {.struct_size = sizeof desc};
  if (!PyArg_ParseTuple(args, "OsiizzziIOO:ufunc_create", &context, &desc.name, &desc.nin,
                        &desc.nout, &desc.signature, &desc.rules, &desc.doc, &desc.identity,
                        &desc.flags, &roles, &hook)) {
    return NULL;
  }
  void *handle = NULL;
  if (gufpy_get_handle(context, GUFPY_CONTEXT, &handle) != 0) return NULL;
  int64_t numbers[GUF_MAX_OPERANDS];
  int32_t narrow[GUF_MAX_OPERANDS];
  if (roles != Py_None) {
    desc.nroles = gufpy_integers(roles, numbers, GUF_MAX_OPERANDS, "roles");
    if (desc.nroles < 0) return NULL;
    for (int i = 0; i < desc.nroles; ++i) narrow[i] = (int32_t)numbers[i];
    desc.roles = narrow;
  }
  if (hook != Py_None && !PyCallable_Check(hook)) {
    gufpy_refuse("core_dims: expected a callable, got %R", hook);
    return NULL;
  }
  if (hook != Py_None) {
    desc.core_dims = core_dims;
    desc.user = Py_NewRef(hook);
    desc.destroy = drop_object;
  }
  guf_ufunc ufunc = NULL;
  guf_error *error = gufpy_error();
  const guf_status status = guf_ufunc_create(handle, &desc, &ufunc, error);
  if (status == GUF_OK) return gufpy_wrap_handle(GUFPY_UFUNC, ufunc);
  if (hook != Py_None) Py_DECREF(hook);
  return gufpy_raise(status, error);
}

/* Calls progress(done, items). A true result or an exception ends the call. */
static int32_t report_progress(void *user, int64_t done, int64_t items) {
  GUFPY_ENTRY(entry);
  if (!gufpy_entry_begin(&entry)) return 1;
  PyObject *answer = NULL;
  if (gufpy_has_stack()) {
    answer = PyObject_CallFunction(user, "LL", (long long)done, (long long)items);
  }
  int32_t stop = 1;
  if (answer != NULL) stop = PyObject_IsTrue(answer);
  if (answer == NULL || stop < 0) gufpy_carry_exception(NULL);
  Py_XDECREF(answer);
  gufpy_entry_end(&entry);
  return stop != 0;
}

/* call_chunked((chunk_bytes, depth, first_item, progress, items), ufunc, *args, **keywords);
 * The number of completed items is appended to the list `items`, even if the call fails. */
static PyObject *call_chunked(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                              PyObject *names) {
  (void)self;
  guf_chunk_options options = {.struct_size = sizeof options};
  unsigned long long chunk_bytes = 0;
  long long first = 0;
  PyObject *progress = NULL, *items = NULL;
  if (nargs < 2 || !PyTuple_Check(args[0]) || !PyObject_TypeCheck(args[1], &gufpy_ufunc_type)) {
    PyErr_SetString(PyExc_TypeError, "call_chunked: expected options and a Ufunc");
    return NULL;
  }
  if (!PyArg_ParseTuple(args[0], "KiLOO!", &chunk_bytes, &options.depth, &first, &progress,
                        &PyList_Type, &items)) {
    return NULL;
  }
  options.chunk_bytes = chunk_bytes;
  options.first_item = first;
  if (progress != Py_None) {
    options.progress = report_progress;
    options.user = progress;
  }
  gufpy_call call;
  PyObject *result = NULL;
  if (gufpy_call_begin(&call, args[1], args + 2, nargs - 2, names) == 0) {
    int64_t done = 0;
    guf_error *error = gufpy_error();
    guf_status status = GUF_OK;
    int tries = 0;
    do {
      Py_BEGIN_ALLOW_THREADS status =
          guf_call_chunked(call.ufunc->base.handle, &call.args, &options, &done, error);
      Py_END_ALLOW_THREADS
    } while (status != GUF_OK && done <= first && tries++ == 0 && gufpy_freed_memory(status));
    PyObject *count = PyLong_FromLongLong(done);
    if (count == NULL || PyList_Append(items, count) != 0) PyErr_Clear();
    Py_XDECREF(count);
    result = status == GUF_OK ? gufpy_call_results(&call) : gufpy_raise(status, error);
  }
  gufpy_call_end(&call);
  return result;
}

PyMethodDef gufpy_callback_functions[] = {
    {"add_loop", add_loop, METH_VARARGS, NULL},
    {"ufunc_create", ufunc_create, METH_VARARGS, NULL},
    {"call_chunked", (PyCFunction)(void (*)(void))call_chunked, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {0}};
