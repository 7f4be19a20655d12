/* SPDX-License-Identifier: Apache-2.0
 * Exchange of arrays with other libraries, without copies: the buffer protocol and DLPack. */
#include "pygufunc.h"

/* The buffer protocol: export and import. */

typedef struct {
  guf_dtype dtype;
  const char *format;
} gufpy_format;

static const gufpy_format FORMATS[] = {
    {GUF_BOOL, "?"}, {GUF_I8, "b"},  {GUF_U8, "B"},   {GUF_I16, "h"},   {GUF_U16, "H"},
    {GUF_I32, "i"},  {GUF_U32, "I"}, {GUF_I64, "q"},  {GUF_U64, "Q"},   {GUF_F16, "e"},
    {GUF_F32, "f"},  {GUF_F64, "d"}, {GUF_C64, "Zf"}, {GUF_C128, "Zd"}, {GUF_I64, "l"},
    {GUF_U64, "L"},  {GUF_I64, "n"}, {GUF_U64, "N"}};
enum { NFORMATS = sizeof FORMATS / sizeof *FORMATS };

static const char *format_of(guf_dtype dtype) {
  for (int i = 0; i < NFORMATS; ++i) {
    if (FORMATS[i].dtype == dtype) return FORMATS[i].format;
  }
  return NULL;
}

/* Returns the dtype for a format. An `l` has 4 bytes in a format with standard sizes ("<l", ">l"),
 * and 8 bytes in a format with native sizes. */
static guf_dtype dtype_of(const char *format, uint32_t *out_flags) {
  *out_flags = 0;
  if (format == NULL) return GUF_U8;
  const char order = *format;
  if (order == '@' || order == '=' || order == '<' || order == '>' || order == '!') ++format;
  if (order == '>' || order == '!') *out_flags = GUF_TENSOR_SWAPPED;
  if (order != *format && order != '@' && (strcmp(format, "l") == 0 || strcmp(format, "L") == 0)) {
    return *format == 'l' ? GUF_I32 : GUF_U32;
  }
  for (int i = 0; i < NFORMATS; ++i) {
    if (strcmp(FORMATS[i].format, format) == 0) return FORMATS[i].dtype;
  }
  return GUF_DTYPE_UNSPECIFIED;
}

static int refuse_buffer(Py_buffer *view, const char *why) {
  view->obj = NULL;
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  static const char *const SWAPPED[] = {">?", ">b", ">B", ">h", ">H", ">i",  ">I",
                                        ">q", ">Q", ">e", ">f", ">d", ">Zf", ">Zd"};
  const gufpy_array *array = (const gufpy_array *)self;
  const char *format = format_of(array->dtype);
  if (!array->on_host) {
    return refuse_buffer(view, "the array is in a device's memory: copy_to_host() first");
  }
  if (format == NULL) return refuse_buffer(view, "the buffer protocol has no such dtype");
  if ((flags & PyBUF_WRITABLE) != 0 && (array->flags & GUF_ARRAY_READ_ONLY) != 0) {
    return refuse_buffer(view, "the array is read-only");
  }
  const int c = (array->flags & GUF_ARRAY_C_CONTIGUOUS) != 0;
  const int f = (array->flags & GUF_ARRAY_F_CONTIGUOUS) != 0;
  if (((flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS && !c) ||
      ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && !f) ||
      ((flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS && !c && !f) ||
      ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !c)) {
    return refuse_buffer(view, "the array is not contiguous as requested");
  }
  if ((array->flags & GUF_ARRAY_SWAPPED) != 0) {
    for (int i = 0; i < (int)(sizeof SWAPPED / sizeof *SWAPPED); ++i) {
      if (strcmp(SWAPPED[i] + 1, format) == 0) format = SWAPPED[i];
    }
  }
  /* The consumer of a buffer may read the memory immediately, so pending work must be complete. */
  if (gufpy_synchronize_array(array) != 0) {
    view->obj = NULL;
    return -1;
  }
  static char nothing;
  view->obj = Py_NewRef(self);
  view->buf = array->address == 0 ? &nothing : (void *)(uintptr_t)array->address;
  view->len = (Py_ssize_t)array->nbytes;
  view->readonly = (array->flags & GUF_ARRAY_READ_ONLY) != 0;
  view->itemsize = array->size == 0 ? 1 : (Py_ssize_t)(array->nbytes / array->size);
  if (array->size == 0) {
    guf_dtype_info info = {.struct_size = sizeof info};
    if (guf_dtype_get_info(array->dtype, &info, NULL) == GUF_OK) {
      view->itemsize = (Py_ssize_t)info.itemsize;
    }
  }
  view->format = (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)format : NULL;
  view->ndim = (flags & PyBUF_ND) != 0 ? array->ndim : 1;
  view->shape = (flags & PyBUF_ND) != 0 ? (Py_ssize_t *)array->shape : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? (Py_ssize_t *)array->strides : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  return 0;
}

PyBufferProcs gufpy_array_buffer = {.bf_getbuffer = get_buffer};

/* The release callback of an imported buffer. The buffer stays exported until the library releases
 * the memory. */
static void release_buffer(void *user, uint64_t address) {
  (void)address;
  GUFPY_ENTRY(entry);
  if (!gufpy_entry_begin(&entry)) return;
  PyBuffer_Release(user);
  PyMem_Free(user);
  gufpy_entry_end(&entry);
}

static guf_status wrap_buffer(Py_buffer *view, guf_dtype dtype, uint32_t flags, guf_array *out) {
  guf_tensor tensor = {.struct_size = sizeof tensor, .dtype = dtype, .flags = flags};
  int64_t extent = view->len;
  tensor.ndim = view->ndim;
  tensor.address = (uint64_t)(uintptr_t)view->buf;
  tensor.shape = (const int64_t *)view->shape;
  tensor.strides = (const int64_t *)view->strides;
  if (view->shape == NULL && view->ndim > 0) {
    tensor.ndim = 1;
    tensor.shape = &extent;
    extent = view->itemsize > 0 ? view->len / view->itemsize : 0;
  }
  if (view->readonly) tensor.flags |= GUF_TENSOR_READ_ONLY;
  return guf_array_wrap(&tensor, release_buffer, view, 0, out, gufpy_error());
}

/* array_from_buffer(object): an array over the object's memory, which keeps the object alive. */
PyObject *gufpy_array_from_buffer(PyObject *self, PyObject *object) {
  (void)self;
  Py_buffer *view = PyMem_Malloc(sizeof *view);
  if (view == NULL) return PyErr_NoMemory();
  if (PyObject_GetBuffer(object, view, PyBUF_RECORDS) != 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) != 0) {
      PyMem_Free(view);
      return NULL;
    }
  }
  uint32_t flags = 0;
  const guf_dtype dtype = dtype_of(view->format, &flags);
  guf_dtype_info info = {.struct_size = sizeof info};
  guf_array handle = NULL;
  if (dtype == 0 || guf_dtype_get_info(dtype, &info, NULL) != GUF_OK ||
      (Py_ssize_t)info.itemsize != view->itemsize) {
    PyErr_Format(PyExc_TypeError, "no dtype for the buffer's format '%s'",
                 view->format == NULL ? "" : view->format);
  } else {
    const guf_status status = wrap_buffer(view, dtype, flags, &handle);
    if (status != GUF_OK) gufpy_raise(status, gufpy_error());
  }
  if (handle == NULL) {
    PyBuffer_Release(view);
    PyMem_Free(view);
    return NULL;
  }
  return gufpy_wrap_array(handle);
}

/* DLPack: export of arrays as capsules, and import of capsules. The name of a capsule states the
 * protocol version and whether the tensor was consumed. */

static const char VERSIONED[] = "dltensor_versioned", USED[] = "used_dltensor_versioned";
static const char UNVERSIONED[] = "dltensor", USED_UNVERSIONED[] = "used_dltensor";

/* The destructor of a capsule. Deletes the tensor if it was not consumed. */
static void capsule_dropped(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, VERSIONED)) {
    guf_dlpack *managed = PyCapsule_GetPointer(capsule, VERSIONED);
    if (managed->deleter != NULL) managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, UNVERSIONED)) {
    guf_dlpack_unversioned *managed = PyCapsule_GetPointer(capsule, UNVERSIONED);
    if (managed->deleter != NULL) managed->deleter(managed);
  }
}

/* dlpack_capsule(array, stream, flags, versioned) */
static PyObject *dlpack_capsule(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *array = NULL, *stream = NULL;
  unsigned int flags = 0;
  int versioned = 0;
  void *handle = NULL, *consumer = NULL;
  if (!PyArg_ParseTuple(args, "OOIp:dlpack_capsule", &array, &stream, &flags, &versioned) ||
      gufpy_get_handle(array, GUFPY_ARRAY, &handle) != 0 ||
      gufpy_get_handle(stream, GUFPY_STREAM, &consumer) != 0) {
    return NULL;
  }
  guf_dlpack *managed = NULL;
  guf_dlpack_unversioned *plain = NULL;
  guf_error *error = gufpy_error();
  const guf_status status =
      versioned ? guf_array_to_dlpack(handle, consumer, flags, &managed, error)
                : guf_array_to_dlpack_unversioned(handle, consumer, flags, &plain, error);
  if (status != GUF_OK) return gufpy_raise(status, error);
  PyObject *capsule = versioned ? PyCapsule_New(managed, VERSIONED, capsule_dropped)
                                : PyCapsule_New(plain, UNVERSIONED, capsule_dropped);
  if (capsule == NULL) {
    if (versioned) managed->deleter(managed);
    if (!versioned) plain->deleter(plain);
  }
  return capsule;
}

/* dlpack_place(array): DLPack's (device type, device id) */
static PyObject *dlpack_place(PyObject *self, PyObject *array) {
  (void)self;
  void *handle = NULL;
  guf_dlpack *managed = NULL;
  if (gufpy_get_handle(array, GUFPY_ARRAY, &handle) != 0) return NULL;
  guf_error *error = gufpy_error();
  const guf_status status = guf_array_to_dlpack(handle, NULL, 0, &managed, error);
  if (status != GUF_OK) return gufpy_raise(status, error);
  const int type = managed->tensor.device_type, id = managed->tensor.device_id;
  managed->deleter(managed);
  return Py_BuildValue("ii", type, id);
}

/* dlpack_array(capsule, stream, flags): consumes the tensor. The library deletes it if the import
 * fails. */
static PyObject *dlpack_array(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *capsule = NULL, *stream = NULL;
  unsigned int flags = 0;
  void *ready_on = NULL;
  if (!PyArg_ParseTuple(args, "OOI:dlpack_array", &capsule, &stream, &flags) ||
      gufpy_get_handle(stream, GUFPY_STREAM, &ready_on) != 0) {
    return NULL;
  }
  guf_array array = NULL;
  guf_error *error = gufpy_error();
  guf_status status = GUF_OK;
  if (PyCapsule_IsValid(capsule, VERSIONED)) {
    guf_dlpack *managed = PyCapsule_GetPointer(capsule, VERSIONED);
    if (PyCapsule_SetName(capsule, USED) != 0) return NULL;
    status = guf_array_from_dlpack(managed, ready_on, flags, &array, error);
  } else if (PyCapsule_IsValid(capsule, UNVERSIONED)) {
    guf_dlpack_unversioned *managed = PyCapsule_GetPointer(capsule, UNVERSIONED);
    if (PyCapsule_SetName(capsule, USED_UNVERSIONED) != 0) return NULL;
    status = guf_array_from_dlpack_unversioned(managed, ready_on, flags, &array, error);
  } else {
    PyErr_SetString(PyExc_ValueError,
                    "a capsule of DLPack whose tensor was not taken yet is expected");
    return NULL;
  }
  return status == GUF_OK ? gufpy_wrap_array(array) : gufpy_raise(status, error);
}

/* A DLPack tensor over device memory that a Python object owns. */
typedef struct {
  guf_dlpack managed;
  PyObject *owner;
  int64_t shape[GUF_MAX_NDIM], strides[GUF_MAX_NDIM];
} exported_tensor;

static void delete_exported(guf_dlpack *managed) {
  exported_tensor *exported = (exported_tensor *)managed;
  gufpy_release_object(exported->owner, 0);
  PyMem_RawFree(exported);
}

/* array_borrowed(owner, device_type, device_id, address, dtype, shape, strides, read_only, stream,
 * flags): the strides are in elements; None means C-contiguous. */
static PyObject *array_borrowed(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *owner = NULL, *shape = NULL, *strides = NULL, *stream = NULL;
  unsigned long long address = 0;
  int type = 0, id = 0, read_only = 0;
  unsigned int dtype = 0, flags = 0;
  void *ready_on = NULL;
  if (!PyArg_ParseTuple(args, "OiiKIOOpOI:array_borrowed", &owner, &type, &id, &address, &dtype,
                        &shape, &strides, &read_only, &stream, &flags) ||
      gufpy_get_handle(stream, GUFPY_STREAM, &ready_on) != 0) {
    return NULL;
  }
  exported_tensor *exported = PyMem_RawCalloc(1, sizeof *exported);
  if (exported == NULL) return PyErr_NoMemory();
  guf_dlpack_tensor *tensor = &exported->managed.tensor;
  tensor->ndim = gufpy_integers(shape, exported->shape, GUF_MAX_NDIM, "shape");
  int fits = tensor->ndim >= 0;
  if (fits && strides != Py_None) {
    const int count = gufpy_integers(strides, exported->strides, GUF_MAX_NDIM, "strides");
    if (count >= 0 && count != tensor->ndim) {
      PyErr_SetString(PyExc_ValueError, "strides and shape differ in length");
    }
    fits = count == tensor->ndim;
    tensor->strides = exported->strides;
  }
  if (!fits) {
    PyMem_RawFree(exported);
    return NULL;
  }
  exported->owner = Py_NewRef(owner);
  exported->managed.major = 1;
  exported->managed.deleter = delete_exported;
  exported->managed.flags = read_only ? GUF_DLPACK_READ_ONLY : 0;
  tensor->data = (void *)(uintptr_t)address;
  tensor->device_type = type;
  tensor->device_id = id;
  tensor->dtype = dtype;
  tensor->shape = exported->shape;
  guf_array array = NULL;
  guf_error *error = gufpy_error();
  const guf_status status =
      guf_array_from_dlpack(&exported->managed, ready_on, flags, &array, error);
  return status == GUF_OK ? gufpy_wrap_array(array) : gufpy_raise(status, error);
}

PyMethodDef gufpy_dlpack_functions[] = {{"dlpack_capsule", dlpack_capsule, METH_VARARGS, NULL},
                                        {"dlpack_place", dlpack_place, METH_O, NULL},
                                        {"dlpack_array", dlpack_array, METH_VARARGS, NULL},
                                        {"array_borrowed", array_borrowed, METH_VARARGS, NULL},
                                        {0}};
