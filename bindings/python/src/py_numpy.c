/* SPDX-License-Identifier: Apache-2.0
 * Access to NumPy's arrays by their layout in memory, which is part of NumPy's ABI
 * (PyArrayObject_fields in ndarraytypes.h). NumPy's functions are called by their indices in
 * __multiarray_api.h, so the build needs no header of NumPy, and programs can run without NumPy.
 * The layout is checked on a test array before it is used. */
#include "pygufunc.h"

typedef struct {
  PyObject_HEAD char *data;
  int nd;
  Py_ssize_t *dimensions;
  Py_ssize_t *strides;
  PyObject *base;
  PyObject *descr;
  int flags;
} numpy_array;

enum {
  NUMPY_WRITEABLE = 0x0400,
  NUMPY_SCALAR = 60,
  NUMPY_NEW_FROM_DESCR = 94,
  NUMPY_SET_BASE = 282
};

typedef PyObject *(*numpy_new_fn)(PyTypeObject *, PyObject *, int, const Py_ssize_t *,
                                  const Py_ssize_t *, void *, int, PyObject *);
typedef PyObject *(*numpy_scalar_fn)(void *, PyObject *, PyObject *);
typedef int (*numpy_set_base_fn)(PyObject *, PyObject *);

typedef struct {
  PyObject *descr;
  guf_dtype dtype;
  uint32_t flags;
} numpy_known;

enum { NKNOWN = 64 };

static struct {
  int state; /* 0: not searched yet, 1: found, -1: not found */
  PyTypeObject *array, *generic;
  PyObject *is_input_class, *is_output_class; /* a subclass of ndarray -> bool */
  numpy_new_fn new_from_descr;
  numpy_scalar_fn scalar;
  numpy_set_base_fn set_base;
  PyObject *describe;          /* (NumPy dtype) -> (code, swapped) */
  PyObject *descr_of;          /* (code, swapped) -> NumPy dtype */
  numpy_known known[NKNOWN];   /* indexed by descr */
  numpy_known results[NKNOWN]; /* indexed by dtype */
} numpy;

/* Gets the functions of gufunc._numpy, which imports NumPy. */
static int find_numpy(void) {
  PyObject *helper = PyImport_ImportModule("gufunc._numpy");
  if (helper == NULL) return -1;
  PyObject *found = PyObject_CallMethod(helper, "entries", NULL);
  Py_DECREF(helper);
  if (found == NULL) return -1;
  PyObject *array = NULL, *generic = NULL, *capsule = NULL, *describe = NULL, *descr_of = NULL,
           *is_input_class = NULL, *is_output_class = NULL, *probe = NULL;
  void **api = NULL;
  if (PyArg_ParseTuple(found, "OOOOOOOO", &array, &generic, &capsule, &describe, &descr_of,
                       &is_input_class, &is_output_class, &probe)) {
    api = PyCapsule_GetPointer(capsule, NULL);
  }
  const numpy_array *tried = (const numpy_array *)probe;
  const int fits = api != NULL && tried->nd == 2 && tried->dimensions[0] == 2 &&
                   tried->dimensions[1] == 3 && tried->strides[0] == 12 &&
                   (tried->flags & NUMPY_WRITEABLE) != 0;
  if (fits) {
    numpy.array = (PyTypeObject *)Py_NewRef(array);
    numpy.generic = (PyTypeObject *)Py_NewRef(generic);
    numpy.describe = Py_NewRef(describe);
    numpy.descr_of = Py_NewRef(descr_of);
    numpy.is_input_class = Py_NewRef(is_input_class);
    numpy.is_output_class = Py_NewRef(is_output_class);
    memcpy(&numpy.new_from_descr, &api[NUMPY_NEW_FROM_DESCR], sizeof(void *));
    memcpy(&numpy.scalar, &api[NUMPY_SCALAR], sizeof(void *));
    memcpy(&numpy.set_base, &api[NUMPY_SET_BASE], sizeof(void *));
  }
  Py_DECREF(found);
  return fits ? 0 : -1;
}

int gufpy_numpy_ready(void) {
  if (numpy.state == 0) {
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&type, &value, &trace);
    numpy.state = find_numpy() == 0 ? 1 : -1;
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
  }
  return numpy.state == 1;
}

__attribute__((cold, noinline)) static int is_so(PyObject *predicate, PyTypeObject *type) {
  PyObject *answer = PyObject_CallOneArg(predicate, (PyObject *)type);
  const int yes = answer == Py_True;
  if (answer == NULL) PyErr_Clear(); /* the conversion rejects the object later */
  Py_XDECREF(answer);
  return yes;
}

/* An object can only be an ndarray if NumPy is imported. */
__attribute__((cold, noinline)) static int is_numpy_imported(void) {
  PyObject *modules = PyImport_GetModuleDict();
  return PyDict_GetItemString(modules, "numpy") != NULL && gufpy_numpy_ready();
}

static inline int is_numpy_used(void) {
  return numpy.state == 1 || (numpy.state == 0 && is_numpy_imported());
}

/* Whether an object is an ndarray, or an instance of a subclass that `predicate` accepts. */
static int is_of_class(PyObject *object, PyObject **predicate) {
  if (!is_numpy_used() || !PyObject_TypeCheck(object, numpy.array)) return 0;
  return Py_IS_TYPE(object, numpy.array) || is_so(*predicate, Py_TYPE(object));
}

int gufpy_is_ndarray(PyObject *object) {
  return Py_IS_TYPE(object, numpy.array) || is_of_class(object, &numpy.is_input_class);
}

int gufpy_is_output_ndarray(PyObject *object) {
  return Py_IS_TYPE(object, numpy.array) || is_of_class(object, &numpy.is_output_class);
}

int gufpy_is_numpy_scalar(PyObject *object) {
  return numpy.state == 1 && PyObject_TypeCheck(object, numpy.generic);
}

static const numpy_known *describe(PyObject *descr) {
  numpy_known *known = &numpy.known[((uintptr_t)descr >> 4) % NKNOWN];
  if (known->descr == descr) return known;
  PyObject *answer = PyObject_CallOneArg(numpy.describe, descr);
  unsigned int dtype = 0;
  int swapped = 0;
  if (answer == NULL || !PyArg_ParseTuple(answer, "Ip", &dtype, &swapped)) {
    Py_XDECREF(answer);
    return NULL;
  }
  Py_DECREF(answer);
  known->dtype = dtype;
  known->flags = swapped ? GUF_TENSOR_SWAPPED : 0;
  Py_INCREF(descr);
  Py_XSETREF(known->descr, descr);
  return known;
}

int gufpy_numpy_tensor(PyObject *ndarray, guf_tensor *out_tensor) {
  const numpy_array *array = (const numpy_array *)ndarray;
  const numpy_known *known = describe(array->descr);
  if (known == NULL) return -1;
  out_tensor->struct_size = sizeof *out_tensor;
  out_tensor->dtype = known->dtype;
  out_tensor->ndim = array->nd;
  out_tensor->flags =
      known->flags | ((array->flags & NUMPY_WRITEABLE) != 0 ? 0 : GUF_TENSOR_READ_ONLY);
  out_tensor->address = (uint64_t)(uintptr_t)array->data;
  out_tensor->shape = (const int64_t *)array->dimensions;
  out_tensor->strides = (const int64_t *)array->strides;
  out_tensor->device = NULL;
  return 0;
}

/* Returns the NumPy dtype for a dtype code, as a borrowed reference. */
static PyObject *descr_of(guf_dtype dtype, int swapped) {
  const guf_dtype key = dtype ^ (swapped ? 0x80000000u : 0);
  numpy_known *known = &numpy.results[(key ^ key >> 8 ^ key >> 12) % NKNOWN];
  if (known->descr == NULL || known->dtype != key) {
    PyObject *descr = PyObject_CallFunction(numpy.descr_of, "Ii", dtype, swapped);
    if (descr == NULL) return NULL;
    known->dtype = key;
    Py_XSETREF(known->descr, descr);
  }
  return known->descr;
}

PyObject *gufpy_numpy_result(gufpy_array *array, int scalar) {
  PyObject *descr = descr_of(array->dtype, (array->flags & GUF_ARRAY_SWAPPED) != 0);
  if (descr == NULL) return NULL;
  void *data = (void *)(uintptr_t)array->address;
  if (scalar && array->ndim == 0) return numpy.scalar(data, descr, NULL);
  const int flags = (array->flags & GUF_ARRAY_READ_ONLY) != 0 ? 0 : NUMPY_WRITEABLE;
  static int64_t nothing[2];
  if (data == NULL) data = nothing; /* for an array without elements */
  Py_INCREF(descr);
  PyObject *result = numpy.new_from_descr(numpy.array, descr, array->ndim, array->shape,
                                          array->strides, data, flags, NULL);
  if (result == NULL) return NULL;
  Py_INCREF(array);
  if (numpy.set_base(result, (PyObject *)array) != 0) Py_CLEAR(result);
  return result;
}

PyObject *gufpy_numpy_new(guf_dtype dtype, int32_t ndim, const int64_t *shape) {
  PyObject *descr = descr_of(dtype, 0);
  if (descr == NULL) return NULL;
  Py_INCREF(descr);
  return numpy.new_from_descr(numpy.array, descr, ndim, shape, NULL, NULL, 0, NULL);
}

PyObject *gufpy_numpy_scalar(guf_dtype dtype, void *data) {
  PyObject *descr = descr_of(dtype, 0);
  return descr == NULL ? NULL : numpy.scalar(data, descr, NULL);
}

/* array_as_numpy(array): an ndarray over a host array. Waits for all work that uses the array. */
static PyObject *array_as_numpy(PyObject *self, PyObject *array) {
  (void)self;
  void *handle = NULL;
  if (gufpy_get_handle(array, GUFPY_ARRAY, &handle) != 0) return NULL;
  if (handle == NULL || !((gufpy_array *)array)->on_host) {
    PyErr_SetString(PyExc_TypeError, "expected a host array");
    return NULL;
  }
  if (!gufpy_numpy_ready()) {
    PyErr_SetString(PyExc_ImportError, "NumPy cannot be imported, or is of an unknown layout");
    return NULL;
  }
  if (gufpy_synchronize_array((gufpy_array *)array) != 0) return NULL;
  return gufpy_numpy_result((gufpy_array *)array, 0);
}

/* numpy_as_array(ndarray): an array over the memory of an ndarray. The array keeps the ndarray
 * alive. */
static PyObject *numpy_as_array(PyObject *self, PyObject *object) {
  (void)self;
  guf_tensor tensor;
  if (!gufpy_is_ndarray(object)) {
    PyErr_SetString(PyExc_TypeError, "expected an ndarray");
    return NULL;
  }
  if (gufpy_numpy_tensor(object, &tensor) != 0) return NULL;
  guf_array handle = NULL;
  guf_error *error = gufpy_error();
  Py_INCREF(object);
  const guf_status status =
      guf_array_wrap(&tensor, gufpy_release_object, object, 0, &handle, error);
  if (status == GUF_OK) return gufpy_wrap_array(handle);
  Py_DECREF(object);
  return gufpy_raise(status, error);
}

PyMethodDef gufpy_numpy_functions[] = {{"array_as_numpy", array_as_numpy, METH_O, NULL},
                                       {"numpy_as_array", numpy_as_array, METH_O, NULL},
                                       {0}};
