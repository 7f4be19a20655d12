/* SPDX-License-Identifier: Apache-2.0
 * Arrays as Python objects, their attributes, and arrays over memory that another object owns. */
#include <stddef.h>

#include "pygufunc.h"

static void array_dealloc(PyObject *self) {
  gufpy_array *array = (gufpy_array *)self;
  if (array->shape != array->near) PyMem_Free(array->shape);
  gufpy_handle_type.tp_dealloc(self);
}

PyObject *gufpy_wrap_array(guf_array handle) {
  PyTypeObject *type = gufpy.classes[GUFPY_ARRAY];
  gufpy_array *array = (gufpy_array *)type->tp_alloc(type, 0);
  if (array == NULL) {
    (void)guf_array_release(handle, NULL);
    return NULL;
  }
  guf_array_info info;
  info.struct_size = sizeof info;
  array->base.handle = handle;
  array->base.kind = GUFPY_ARRAY;
  array->shape = array->near;
  guf_error *error = gufpy_error();
  const guf_status status = guf_array_get_info(handle, &info, error);
  if (status != GUF_OK) {
    Py_DECREF(array);
    return gufpy_raise(status, error);
  }
  if (info.ndim > GUFPY_NEAR_NDIM) {
    array->shape = PyMem_Malloc(2 * sizeof(int64_t) * (size_t)info.ndim);
    if (array->shape == NULL) {
      array->shape = array->near;
      Py_DECREF(array);
      return PyErr_NoMemory();
    }
  }
  array->strides = array->shape + info.ndim;
  for (int32_t i = 0; i < info.ndim; ++i) {
    array->shape[i] = info.shape[i];
    array->strides[i] = info.strides[i];
  }
  array->device = info.device;
  array->on_host = gufpy_is_host(info.device);
  array->address = info.address;
  array->size = info.size;
  array->nbytes = info.nbytes;
  array->dtype = info.dtype;
  array->flags = info.flags;
  array->ndim = info.ndim;
  return (PyObject *)array;
}

static PyObject *tuple_of(const int64_t *values, int32_t count) {
  PyObject *tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple != NULL && i < count; ++i) {
    PyObject *value = PyLong_FromLongLong(values[i]);
    if (value == NULL) Py_CLEAR(tuple);
    if (value != NULL) PyTuple_SET_ITEM(tuple, i, value);
  }
  return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused) {
  (void)unused;
  return tuple_of(((gufpy_array *)self)->shape, ((gufpy_array *)self)->ndim);
}

static PyObject *get_strides(PyObject *self, void *unused) {
  (void)unused;
  return tuple_of(((gufpy_array *)self)->strides, ((gufpy_array *)self)->ndim);
}

static PyObject *get_ndim(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromLong(((gufpy_array *)self)->ndim);
}

/* The getter of size, nbytes and address. `place` is the offset of the member in the structure. */
static PyObject *get_number(PyObject *self, void *place) {
  return PyLong_FromUnsignedLongLong(*(uint64_t *)((char *)self + (size_t)place));
}

static PyObject *get_word(PyObject *self, void *place) {
  return PyLong_FromUnsignedLong(*(uint32_t *)((char *)self + (size_t)place));
}

static PyObject *get_device(PyObject *self, void *unused) {
  (void)unused;
  return gufpy_wrap_handle(GUFPY_DEVICE, ((gufpy_array *)self)->device);
}

static PyObject *get_on_host(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((gufpy_array *)self)->on_host);
}

static PyGetSetDef array_getset[] = {
    {"shape", get_shape, NULL, "The extents, a tuple.", NULL},
    {"strides", get_strides, NULL, "The signed distances in bytes, a tuple.", NULL},
    {"ndim", get_ndim, NULL, "The number of dimensions.", NULL},
    {"size", get_number, NULL, "The number of elements.", (void *)offsetof(gufpy_array, size)},
    {"nbytes", get_number, NULL, "size * itemsize.", (void *)offsetof(gufpy_array, nbytes)},
    {"address", get_number, NULL, "The address of element (0, ..., 0).",
     (void *)offsetof(gufpy_array, address)},
    {"_dtype", get_word, NULL, "The dtype's code.", (void *)offsetof(gufpy_array, dtype)},
    {"_flags", get_word, NULL, "guf_array_flag.", (void *)offsetof(gufpy_array, flags)},
    {"_device", get_device, NULL, "The device, or None.", NULL},
    {"on_host", get_on_host, NULL, "Whether the host can access the memory.", NULL},
    {0}};

extern PyBufferProcs gufpy_array_buffer;

PyTypeObject gufpy_array_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gufunc._gufunc.ArrayBase",
    .tp_base = &gufpy_handle_type,
    .tp_basicsize = sizeof(gufpy_array),
    .tp_dealloc = array_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_as_buffer = &gufpy_array_buffer,
    .tp_getset = array_getset};

/* array_wrap(address, dtype, shape, strides, flags, device, owner): an array over the memory of
 * `owner`. */
static PyObject *array_wrap(PyObject *self, PyObject *args) {
  (void)self;
  unsigned long long address = 0;
  unsigned int dtype = 0, flags = 0;
  PyObject *shape = NULL, *strides = NULL, *device = NULL, *owner = NULL;
  if (!PyArg_ParseTuple(args, "KIOOIOO:array_wrap", &address, &dtype, &shape, &strides, &flags,
                        &device, &owner)) {
    return NULL;
  }
  int64_t extents[GUF_MAX_NDIM], distances[GUF_MAX_NDIM];
  guf_tensor tensor = {.struct_size = sizeof tensor, .dtype = dtype, .flags = flags};
  tensor.address = address;
  tensor.shape = extents;
  tensor.ndim = gufpy_integers(shape, extents, GUF_MAX_NDIM, "shape");
  if (tensor.ndim < 0) return NULL;
  if (strides != Py_None) {
    const int count = gufpy_integers(strides, distances, GUF_MAX_NDIM, "strides");
    if (count >= 0 && count != tensor.ndim) {
      PyErr_SetString(PyExc_ValueError, "strides and shape differ in length");
    }
    if (count != tensor.ndim) return NULL;
    tensor.strides = distances;
  }
  if (gufpy_get_handle(device, GUFPY_DEVICE, (void **)&tensor.device) != 0) return NULL;
  guf_array handle = NULL;
  guf_error *error = gufpy_error();
  Py_INCREF(owner);
  const guf_status status = guf_array_wrap(&tensor, gufpy_release_object, owner, 0, &handle, error);
  if (status != GUF_OK) {
    Py_DECREF(owner);
    return gufpy_raise(status, error);
  }
  return gufpy_wrap_array(handle);
}

/* array_fill(array, value, stream) */
static PyObject *array_fill(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *array = NULL, *value = NULL, *stream = NULL;
  void *handle = NULL, *queue = NULL;
  if (!PyArg_ParseTuple(args, "OOO:array_fill", &array, &value, &stream)) return NULL;
  if (gufpy_get_handle(array, GUFPY_ARRAY, &handle) != 0) return NULL;
  if (gufpy_get_handle(stream, GUFPY_STREAM, &queue) != 0) return NULL;
  gufpy_frame frame;
  gufpy_frame_begin(&frame, 0);
  guf_operand operand;
  PyObject *result = NULL;
  if (gufpy_set_operand(&frame, value, &operand) == 0) {
    if (operand.kind == GUF_OPERAND_TENSOR) (void)gufpy_take_value(operand.tensor, &operand);
    guf_status status = GUF_OK;
    guf_error *error = gufpy_error();
    Py_BEGIN_ALLOW_THREADS status = guf_array_fill(handle, &operand, queue, error);
    Py_END_ALLOW_THREADS result =
        status == GUF_OK ? Py_NewRef(Py_None) : gufpy_raise(status, error);
  }
  gufpy_frame_end(&frame);
  return result;
}

int gufpy_synchronize_array(const gufpy_array *array) {
  guf_error *error = gufpy_error();
  guf_status status = guf_array_synchronize(array->base.handle, 0, error);
  if (status == GUF_TIMEOUT) {
    Py_BEGIN_ALLOW_THREADS status = guf_array_synchronize(array->base.handle, UINT64_MAX, error);
    Py_END_ALLOW_THREADS
  }
  if (status != GUF_OK) gufpy_raise(status, error);
  return status == GUF_OK ? 0 : -1;
}

/* array_text(array): the text of guf_array_print. */
static PyObject *array_text(PyObject *self, PyObject *array) {
  (void)self;
  void *handle = NULL;
  if (gufpy_get_handle(array, GUFPY_ARRAY, &handle) != 0) return NULL;
  uint64_t length = 256;
  for (;;) {
    const uint64_t capacity = length;
    char *text = PyMem_Malloc(capacity);
    if (text == NULL) return PyErr_NoMemory();
    guf_status status = GUF_OK;
    guf_error *error = gufpy_error();
    Py_BEGIN_ALLOW_THREADS status = guf_array_print(handle, text, &length, error);
    Py_END_ALLOW_THREADS PyObject *result = NULL;
    if (status == GUF_OK) result = PyUnicode_FromString(text);
    PyMem_Free(text);
    if (status == GUF_E_BUFFER_TOO_SMALL && length > capacity) continue;
    return status == GUF_OK ? result : gufpy_raise(status, error);
  }
}

extern PyObject *gufpy_array_from_buffer(PyObject *self, PyObject *object);

PyMethodDef gufpy_array_functions[] = {{"array_wrap", array_wrap, METH_VARARGS, NULL},
                                       {"array_fill", array_fill, METH_VARARGS, NULL},
                                       {"array_text", array_text, METH_O, NULL},
                                       {"array_from_buffer", gufpy_array_from_buffer, METH_O, NULL},
                                       {0}};
