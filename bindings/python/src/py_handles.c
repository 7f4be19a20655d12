/* SPDX-License-Identifier: Apache-2.0
 * Handles as Python objects, errors as exceptions, and the contents of the module. */
#include <stddef.h>

#include "pygufunc.h"

gufpy_hooks gufpy;

static _Thread_local guf_error thread_error;
static _Thread_local PyObject *carried;
static _Thread_local char carried_text[400]; /* the library may append to this text */

guf_error *gufpy_error(void) {
  thread_error.struct_size = sizeof thread_error;
  return &thread_error;
}

/* Writes the text of an exception, such as "KeyError: 'x'". A text that is too long is truncated at
 * the boundary of a UTF-8 character. */
static void write_text(PyObject *exception, char *out, size_t capacity) {
  PyObject *text = PyUnicode_FromFormat("%s: %S", Py_TYPE(exception)->tp_name, exception);
  const char *bytes = text == NULL ? NULL : PyUnicode_AsUTF8(text);
  PyErr_Clear();
  snprintf(out, capacity, "%s", bytes == NULL ? Py_TYPE(exception)->tp_name : bytes);
  size_t length = strlen(out);
  if (bytes != NULL && bytes[length] != 0) {
    while (length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80) --length;
    out[length] = 0;
  }
  Py_XDECREF(text);
}

void gufpy_carry_exception(guf_error *error) {
  PyObject *type = NULL, *value = NULL, *trace = NULL;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value != NULL && trace != NULL) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  Py_XSETREF(carried, value);
  carried_text[0] = 0;
  if (value == NULL || error == NULL) return;
  write_text(value, carried_text, sizeof carried_text);
  memcpy(error->message, carried_text, sizeof carried_text);
}

PyObject *gufpy_raise(guf_status status, const guf_error *error) {
  if (carried != NULL) {
    PyObject *exception = carried;
    carried = NULL;
    const int mine = strncmp(error->message, carried_text, strlen(carried_text)) == 0;
    if (mine) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    if (mine) return NULL;
  }
  if (gufpy.make_error == NULL) {
    PyErr_SetString(PyExc_RuntimeError, error->message);
    return NULL;
  }
  /* A loop of the program may have written a message that is not valid UTF-8. */
  const size_t length = strnlen(error->message, sizeof error->message);
  PyObject *message = PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)length, "replace");
  if (message == NULL) return NULL;
  PyObject *exception = PyObject_CallFunction(gufpy.make_error, "iNiii", status, message,
                                              error->argument, error->axis, error->native_code);
  if (exception == NULL) return NULL;
  PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_DECREF(exception);
  return NULL;
}

int gufpy_refuse(const char *format, ...) {
  va_list values;
  va_start(values, format);
  PyObject *message = PyUnicode_FromFormatV(format, values);
  va_end(values);
  PyObject *exception = message == NULL ? NULL : PyObject_CallOneArg(gufpy.make_refusal, message);
  Py_XDECREF(message);
  if (exception == NULL) return -1;
  PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  Py_DECREF(exception);
  return -1;
}

/* Releases the Python owners of wrapped memory. This function runs with the GIL. A thread of the
 * library must not release the owners, because it may hold a lock for which the thread with the GIL
 * waits. If an owner is itself an array over memory with an owner, the next round of the loop
 * releases the second owner, so that the stack does not grow. */
static void let_owners_go(void) {
  static _Thread_local int polling;
  if (polling) return;
  polling = 1;
  uint32_t ran = 1;
  while (ran > 0 && guf_poll(0, &ran, NULL) == GUF_OK) continue;
  polling = 0;
}

int gufpy_freed_memory(guf_status status) {
  if (status != GUF_E_NO_MEMORY && status != GUF_E_DEVICE_MEMORY) return 0;
  PyObject *collector = PyImport_ImportModule("gc");
  /* PyGC_Collect does nothing if the program has disabled the collector, so gc.collect is
   * called. */
  PyObject *found = collector == NULL ? NULL : PyObject_CallMethod(collector, "collect", NULL);
  const int collected = found != NULL;
  Py_XDECREF(found);
  Py_XDECREF(collector);
  PyErr_Clear();
  let_owners_go();
  return collected;
}

/* The live Ufunc objects, handle -> weak reference. A ufunc has at most one Python object. Finding
 * it again returns the same object, and the properties that the object caches are never stale. */
static PyObject *live_ufuncs;

PyObject *gufpy_find_ufunc(void *handle) {
  PyObject *key = live_ufuncs == NULL ? NULL : PyLong_FromVoidPtr(handle);
  PyObject *reference = key == NULL ? NULL : PyDict_GetItem(live_ufuncs, key);
  Py_XDECREF(key);
  if (reference == NULL) return NULL;
  PyObject *found = PyWeakref_GetObject(reference);
  return found == Py_None ? NULL : Py_XNewRef(found);
}

int gufpy_add_ufunc(gufpy_handle *object) {
  if (live_ufuncs == NULL) live_ufuncs = PyDict_New();
  PyObject *key = live_ufuncs == NULL ? NULL : PyLong_FromVoidPtr(object->handle);
  PyObject *reference = key == NULL ? NULL : PyWeakref_NewRef((PyObject *)object, NULL);
  const int added = reference != NULL && PyDict_SetItem(live_ufuncs, key, reference) == 0;
  Py_XDECREF(reference);
  Py_XDECREF(key);
  return added ? 0 : -1;
}

void gufpy_remove_ufunc(void *handle) {
  PyObject *type = NULL, *value = NULL, *trace = NULL;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *key = PyLong_FromVoidPtr(handle);
  if (key != NULL && live_ufuncs != NULL) (void)PyDict_DelItem(live_ufuncs, key);
  Py_XDECREF(key);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

static void release(gufpy_kind kind, void *handle) {
  switch (kind) {
    case GUFPY_CONTEXT:
      (void)guf_context_release(handle, NULL);
      break;
    case GUFPY_ARRAY:
      (void)guf_array_release(handle, NULL);
      break;
    case GUFPY_STREAM:
      (void)guf_stream_release(handle, NULL);
      break;
    case GUFPY_EVENT:
      (void)guf_event_release(handle, NULL);
      break;
    case GUFPY_GRAPH:
      (void)guf_graph_release(handle, NULL);
      break;
    case GUFPY_UFUNC:
      (void)guf_ufunc_release(handle, NULL);
      break;
    case GUFPY_MODULE:
      (void)guf_module_release(handle, NULL);
      break;
    case GUFPY_PLAN:
      (void)guf_plan_release(handle, NULL);
      break;
    case GUFPY_KERNEL:
      (void)guf_kernel_release(handle, NULL);
      break;
    case GUFPY_DEVICE:
    case GUFPY_KINDS:
      break;
  }
}

static void handle_dealloc(PyObject *self) {
  gufpy_handle *object = (gufpy_handle *)self;
  if (object->weak != NULL) PyObject_ClearWeakRefs(self);
  if (object->kind == GUFPY_UFUNC) gufpy_remove_ufunc(object->handle);
  const int borrows = object->kind == GUFPY_ARRAY &&
                      (((const gufpy_array *)self)->flags & GUF_ARRAY_OWNS_DATA) == 0;
  release(object->kind, object->handle);
  Py_TYPE(self)->tp_free(self);
  if (borrows) let_owners_go();
}

static Py_hash_t handle_hash(PyObject *self) {
  return (Py_hash_t)((uintptr_t)((gufpy_handle *)self)->handle >> 1);
}

static PyObject *handle_compare(PyObject *a, PyObject *b, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(b, &gufpy_handle_type)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const int equal = ((gufpy_handle *)a)->handle == ((gufpy_handle *)b)->handle;
  return PyBool_FromLong(equal == (operation == Py_EQ));
}

static PyObject *handle_number(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromVoidPtr(((gufpy_handle *)self)->handle);
}

static PyGetSetDef handle_getset[] = {
    {"handle", handle_number, NULL, "The C interface's handle, borrowed, as an integer.", NULL},
    {0}};

PyTypeObject gufpy_handle_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gufunc._gufunc.Handle",
    .tp_basicsize = sizeof(gufpy_handle),
    .tp_dealloc = handle_dealloc,
    .tp_hash = handle_hash,
    .tp_richcompare = handle_compare,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = "A handle of the C interface, and one reference to what it names.",
    .tp_weaklistoffset = offsetof(gufpy_handle, weak),
    .tp_getset = handle_getset};

static int describe_ufunc(gufpy_ufunc *ufunc) {
  guf_ufunc_info info = {.struct_size = sizeof info};
  guf_error *error = gufpy_error();
  const guf_status status = guf_ufunc_get_info(ufunc->base.handle, &info, error);
  if (status != GUF_OK) {
    gufpy_raise(status, error);
    return -1;
  }
  ufunc->call = gufpy_ufunc_call;
  ufunc->nin = info.nin;
  ufunc->nout = info.nout;
  ufunc->ncore = info.signature[0] != 0;
  ufunc->nresults = info.nresults;
  ufunc->written = 0;
  ufunc->in_place = 0;
  for (int i = 0; i < info.nin; ++i) {
    if (info.roles[i] == GUF_ROLE_IN) continue;
    ufunc->written |= 1u << i;
    ufunc->in_place += info.nout == 0;
  }
  return 0;
}

PyObject *gufpy_wrap_handle(gufpy_kind kind, void *handle) {
  if (handle == NULL) Py_RETURN_NONE;
  if (kind == GUFPY_ARRAY) return gufpy_wrap_array(handle);
  PyObject *live = kind == GUFPY_UFUNC ? gufpy_find_ufunc(handle) : NULL;
  if (live != NULL) {
    release(kind, handle);
    return live;
  }
  PyTypeObject *type = gufpy.classes[kind];
  gufpy_handle *object = NULL;
  if (type == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "gufunc: the package is not imported");
  } else {
    object = (gufpy_handle *)type->tp_alloc(type, 0);
  }
  if (object == NULL) {
    release(kind, handle);
    return NULL;
  }
  object->kind = kind;
  object->handle = handle;
  if (kind == GUFPY_UFUNC &&
      (describe_ufunc((gufpy_ufunc *)object) != 0 || gufpy_add_ufunc(object) != 0)) {
    Py_DECREF(object);
    return NULL;
  }
  return (PyObject *)object;
}

int gufpy_get_handle(PyObject *object, gufpy_kind kind, void **out_handle) {
  *out_handle = NULL;
  if (object == Py_None) return 0;
  if (PyObject_TypeCheck(object, &gufpy_handle_type) && ((gufpy_handle *)object)->kind == kind) {
    *out_handle = ((gufpy_handle *)object)->handle;
    return 0;
  }
  const PyTypeObject *type = gufpy.classes[kind];
  return gufpy_refuse("expected %s, got %s", type == NULL ? "a handle" : type->tp_name,
                      Py_TYPE(object)->tp_name);
}

int gufpy_is_host(guf_device device) {
  static guf_device cpu;
  if (cpu == NULL) (void)guf_device_get(NULL, "cpu", &cpu, NULL);
  return device == NULL || device == cpu;
}

void gufpy_release_object(void *user, uint64_t address) {
  (void)address;
  GUFPY_ENTRY(entry);
  if (!gufpy_entry_begin(&entry)) return;
  Py_DECREF((PyObject *)user);
  gufpy_entry_end(&entry);
}

/* Replaces a TypeError of Python by the exception of gufpy_refuse, which is also a TypeError. */
static int refuse_type(const char *what, PyObject *found, const char *expected) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
  PyErr_Clear();
  return gufpy_refuse("%s: expected %s, got %R", what, expected, found);
}

int gufpy_integers(PyObject *sequence, int64_t *out, int capacity, const char *what) {
  if (PyIndex_Check(sequence)) {
    out[0] = PyNumber_AsSsize_t(sequence, PyExc_OverflowError);
    return out[0] == -1 && PyErr_Occurred() ? -1 : 1;
  }
  PyObject *items = PySequence_Fast(sequence, what);
  if (items == NULL) return refuse_type(what, sequence, "an integer or several integers");
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
  int result = (int)count;
  if (count > capacity) {
    result = gufpy_refuse("%s: expected at most %d numbers, got %zd", what, capacity, count);
  }
  for (int i = 0; result >= 0 && i < result; ++i) {
    PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(items, i));
    out[i] = PyNumber_AsSsize_t(item, PyExc_OverflowError);
    if (out[i] == -1 && PyErr_Occurred()) result = refuse_type(what, item, "an integer");
    Py_DECREF(item);
  }
  Py_DECREF(items);
  return result;
}

int gufpy_axes(PyObject *axes, int64_t *out, int capacity, const char *what) {
  const int tuple = PyTuple_Check(axes);
  const Py_ssize_t count = tuple ? PyTuple_GET_SIZE(axes) : 1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *axis = tuple ? PyTuple_GET_ITEM(axes, i) : axes;
    if (PyBool_Check(axis) || PyList_Check(axis)) {
      return gufpy_refuse("%s: expected an integer, got %R", what, axis);
    }
  }
  return gufpy_integers(axes, out, capacity, what);
}

static const char *const KIND_NAMES[GUFPY_KINDS] = {
    "Context", "Device", "Array", "Stream", "Event", "Graph", "Ufunc", "Module", "Plan", "Kernel"};

/* The extension has one global state per process and therefore supports one interpreter. */
static int refuse_other_interpreters(void) {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return 0;
  PyErr_SetString(PyExc_ImportError,
                  "gufunc works in the main interpreter only, not in subinterpreters");
  return -1;
}

static PyObject *check_interpreter(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  if (refuse_other_interpreters() != 0) return NULL;
  Py_RETURN_NONE;
}

/* _describe(ufunc): reads the properties of a ufunc again after set_reduction. */
static PyObject *describe_again(PyObject *self, PyObject *ufunc) {
  (void)self;
  void *handle = NULL;
  if (gufpy_get_handle(ufunc, GUFPY_UFUNC, &handle) != 0) return NULL;
  if (handle == NULL || describe_ufunc((gufpy_ufunc *)ufunc) != 0) return NULL;
  Py_RETURN_NONE;
}

/* _register(name=object, ...): registers the classes for the kinds of handles, and the hooks. */
static PyObject *register_hooks(PyObject *self, PyObject *args, PyObject *keywords) {
  (void)self, (void)args;
  if (refuse_other_interpreters() != 0) return NULL;
  PyObject *name = NULL, *value = NULL;
  Py_ssize_t place = 0;
  while (keywords != NULL && PyDict_Next(keywords, &place, &name, &value)) {
    const char *text = PyUnicode_AsUTF8(name);
    if (text == NULL) return NULL;
    PyObject **hook = NULL;
    if (strcmp(text, "make_error") == 0) hook = &gufpy.make_error;
    if (strcmp(text, "make_refusal") == 0) hook = &gufpy.make_refusal;
    if (strcmp(text, "convert") == 0) hook = &gufpy.convert;
    if (strcmp(text, "as_indices") == 0) hook = &gufpy.as_indices;
    if (strcmp(text, "parse_dtype") == 0) hook = &gufpy.parse_dtype;
    if (strcmp(text, "parse_signature") == 0) hook = &gufpy.parse_signature;
    if (strcmp(text, "as_stream") == 0) hook = &gufpy.as_stream;
    if (strcmp(text, "warn") == 0) hook = &gufpy.warn;
    if (strcmp(text, "warn_complex") == 0) hook = &gufpy.warn_complex;
    for (int kind = 0; kind < GUFPY_KINDS && hook == NULL; ++kind) {
      if (strcmp(text, KIND_NAMES[kind]) == 0) hook = (PyObject **)&gufpy.classes[kind];
    }
    if (hook == NULL) return PyErr_Format(PyExc_TypeError, "no hook %s", text);
    Py_INCREF(value);
    Py_XSETREF(*hook, value);
  }
  /* Without this flag, Python calls instances of a class defined in Python through tp_call. */
  PyTypeObject *ufunc = gufpy.classes[GUFPY_UFUNC];
  if (ufunc != NULL) ufunc->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  Py_RETURN_NONE;
}

static PyMethodDef handle_functions[] = {
    {"_check_interpreter", check_interpreter, METH_NOARGS, NULL},
    {"_describe", describe_again, METH_O, NULL},
    {"_register", (PyCFunction)(void (*)(void))register_hooks, METH_VARARGS | METH_KEYWORDS, NULL},
    {0}};

int gufpy_add_to(PyObject *module) {
  if (refuse_other_interpreters() != 0) return -1;
  PyMethodDef *const functions[] = {handle_functions,         gufpy_array_functions,
                                    gufpy_call_functions,     gufpy_numpy_functions,
                                    gufpy_callback_functions, gufpy_prepared_functions,
                                    gufpy_dlpack_functions,   gufpy_pointer_functions};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    if (PyModule_AddFunctions(module, functions[i]) != 0) return -1;
  }
  PyTypeObject *const types[] = {&gufpy_handle_type, &gufpy_array_type, &gufpy_ufunc_type};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (PyModule_AddType(module, types[i]) != 0) return -1;
  }
  return 0;
}
