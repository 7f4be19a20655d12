/* SPDX-License-Identifier: Apache-2.0
 * DLPack: export of arrays as capsules, and import of capsules. The name of a capsule states the
 * protocol version and whether the tensor was consumed. */
#include "pygufunc.h"

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
