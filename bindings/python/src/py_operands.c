/* SPDX-License-Identifier: Apache-2.0
 * Conversion of Python objects to operands, and of results to Python objects. */
#include "pygufunc.h"

void gufpy_frame_end(gufpy_frame *frame) {
  for (int i = 0; i < frame->nwraps; ++i) (void)guf_array_release(frame->wraps[i], NULL);
  for (int i = 0; i < frame->nkept; ++i) Py_DECREF(frame->kept[i]);
}

/* Takes ownership of a reference until the end of the call. */
static int keep(gufpy_frame *frame, PyObject *object) {
  if (frame->nkept == GUFPY_MAX_OPERANDS) {
    Py_DECREF(object);
    gufpy_refuse("too many operands");
    return -1;
  }
  frame->kept[frame->nkept++] = object;
  return 0;
}

static void note_shape(gufpy_frame *frame, const int64_t *extents, int32_t ndim, uint64_t size) {
  if (size != 1 && frame->nshapes < GUFPY_MAX_OPERANDS) {
    frame->shapes[frame->nshapes].extents = extents;
    frame->shapes[frame->nshapes++].ndim = ndim;
    if (__builtin_mul_overflow(frame->pairs, size > 0 ? size : 1, &frame->pairs)) {
      frame->pairs = UINT64_MAX;
    }
  }
}

int gufpy_exceeds_gil_threshold(const gufpy_frame *frame) {
  uint64_t steps = 1;
  for (int32_t axis = 1; axis <= GUF_MAX_NDIM && steps < GUFPY_LARGE_WORK; ++axis) {
    int64_t extent = 0;
    for (int i = 0; i < frame->nshapes; ++i) {
      const int32_t ndim = frame->shapes[i].ndim;
      if (axis > ndim) continue;
      const int64_t found = frame->shapes[i].extents[ndim - axis];
      if (extent < found) extent = found;
    }
    if (extent == 0) break; /* no operand has this axis, or its extent is 0 */
    steps = extent < GUFPY_LARGE_WORK ? steps * (uint64_t)extent : GUFPY_LARGE_WORK;
  }
  return steps >= GUFPY_LARGE_WORK && !gufpy_is_ending();
}

static void set_array(gufpy_frame *frame, const gufpy_array *array, guf_operand *operand) {
  operand->kind = GUF_OPERAND_ARRAY;
  operand->array = array->base.handle;
  frame->arrays = 1;
  if (!array->on_host) frame->elsewhere = 1;
  note_shape(frame, array->shape, array->ndim, array->size);
}

/* Wraps the memory of an operand of a queued call, so that the library keeps the memory alive. The
 * call may run after the caller has released the object that owns the memory. */
static int wrap_tensor(gufpy_frame *frame, PyObject *owner, const guf_tensor *tensor,
                       guf_operand *operand) {
  guf_array handle = NULL;
  guf_error *error = gufpy_error();
  Py_INCREF(owner);
  guf_status status = guf_array_wrap(tensor, gufpy_release_object, owner, 0, &handle, error);
  if (status != GUF_OK) {
    Py_DECREF(owner);
    gufpy_raise(status, error);
    return -1;
  }
  frame->wraps[frame->nwraps++] = handle;
  operand->kind = GUF_OPERAND_ARRAY;
  operand->array = handle;
  return 0;
}

static int set_ndarray(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  if (frame->ntensors == GUFPY_MAX_OPERANDS) {
    gufpy_refuse("too many operands");
    return -1;
  }
  guf_tensor *tensor = &frame->tensors[frame->ntensors];
  if (gufpy_numpy_tensor(object, tensor) != 0) return -1;
  uint64_t size = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) size *= (uint64_t)tensor->shape[i];
  note_shape(frame, tensor->shape, tensor->ndim, size);
  if (frame->queued) return wrap_tensor(frame, object, tensor, operand);
  ++frame->ntensors;
  operand->kind = GUF_OPERAND_TENSOR;
  operand->tensor = tensor;
  return 0;
}

static void set_double(double value, int32_t kind, guf_operand *operand) {
  operand->kind = kind;
  operand->dtype = kind == GUF_OPERAND_SCALAR ? GUF_F64 : 0;
  memcpy(&operand->value[0], &value, sizeof value);
  operand->value[1] = 0;
}

static void set_complex(Py_complex value, int32_t kind, guf_operand *operand) {
  operand->kind = kind;
  operand->dtype = kind == GUF_OPERAND_SCALAR ? GUF_C128 : 0;
  memcpy(&operand->value[0], &value.real, sizeof(double));
  memcpy(&operand->value[1], &value.imag, sizeof(double));
}

static int set_int(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    operand->kind = GUF_OPERAND_WEAK_INT;
    operand->value[0] = (uint64_t)value;
    operand->value[1] = 0;
    return value == -1 && PyErr_Occurred() ? -1 : 0;
  }
  PyObject *magnitude = PyNumber_Absolute(object);
  if (magnitude == NULL) return -1;
  operand->kind = GUF_OPERAND_WEAK_INT_HUGE;
  operand->value[0] = PyLong_AsUnsignedLongLong(magnitude);
  operand->value[1] = overflow < 0;
  Py_DECREF(magnitude);
  if (operand->value[0] == UINT64_MAX && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
    PyErr_Clear();
    operand->value[1] |= 2;
    frame->huge = 1;
  }
  return 0;
}

__attribute__((cold, noinline)) static int has_hook(PyTypeObject *type) {
  return PyObject_HasAttrString((PyObject *)type, "__array_ufunc__");
}

/* Whether the object's class is defined in Python and implements a protocol for ufuncs. Such a
 * class may be a subclass of a number class. */
static inline int has_protocol(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && has_hook(type);
}

/* Sets an operand from a number. Python's numbers are weak scalars, except bool, which has a dtype.
 * NumPy's float64 and complex128 are subclasses of Python's numbers and are not weak. Returns 1 if
 * the object is not a number. */
static int set_number(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  if (has_protocol(object)) return 1;
  if (PyBool_Check(object)) {
    operand->kind = GUF_OPERAND_SCALAR;
    operand->dtype = GUF_BOOL;
    operand->value[0] = object == Py_True;
    return 0;
  }
  if (PyLong_Check(object)) return set_int(frame, object, operand);
  const int strong = gufpy_is_numpy_scalar(object);
  if (PyFloat_Check(object)) {
    set_double(PyFloat_AS_DOUBLE(object), strong ? GUF_OPERAND_SCALAR : GUF_OPERAND_WEAK_FLOAT,
               operand);
    return 0;
  }
  if (PyComplex_Check(object)) {
    set_complex(PyComplex_AsCComplex(object),
                strong ? GUF_OPERAND_SCALAR : GUF_OPERAND_WEAK_COMPLEX, operand);
    return 0;
  }
  return 1;
}

int gufpy_take_value(const guf_tensor *tensor, guf_operand *operand) {
  guf_dtype_info info = {.struct_size = sizeof info};
  if (tensor->ndim != 0 || (tensor->flags & GUF_TENSOR_SWAPPED) != 0 ||
      guf_dtype_get_info(tensor->dtype, &info, NULL) != GUF_OK || info.itemsize > 16 ||
      info.kind == 'V') {
    return 0;
  }
  operand->kind = GUF_OPERAND_SCALAR;
  operand->dtype = tensor->dtype;
  operand->value[0] = operand->value[1] = 0;
  memcpy(operand->value, (const void *)(uintptr_t)tensor->address, info.itemsize);
  return 1;
}

/* Sets an operand from any other object (a list, a NumPy scalar, memory of another library), which
 * is converted to an array first. */
static int set_converted(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  if (!gufpy_has_stack()) return -1;
  PyObject *converted = PyObject_CallOneArg(gufpy.convert, object);
  if (converted == NULL || keep(frame, converted) != 0) return -1;
  if (PyObject_TypeCheck(converted, &gufpy_array_type)) {
    const int arrays = frame->arrays;
    set_array(frame, (gufpy_array *)converted, operand);
    /* A converted host object does not count as an array of this package, so the results are
     * ndarrays. */
    if (((gufpy_array *)converted)->on_host) frame->arrays = arrays;
    return 0;
  }
  if (gufpy_is_ndarray(converted)) {
    guf_tensor tensor;
    if (gufpy_is_numpy_scalar(object)) {
      if (gufpy_numpy_tensor(converted, &tensor) != 0) return -1;
      if (gufpy_take_value(&tensor, operand)) return 0;
    }
    return set_ndarray(frame, converted, operand);
  }
  PyErr_Format(PyExc_TypeError, "an operand cannot be a %s", Py_TYPE(object)->tp_name);
  return -1;
}

int gufpy_set_operand(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  operand->flags = operand->reserved = 0;
  if (PyObject_TypeCheck(object, &gufpy_array_type)) {
    set_array(frame, (gufpy_array *)object, operand);
    return 0;
  }
  if (gufpy_is_ndarray(object)) return set_ndarray(frame, object, operand);
  const int number = set_number(frame, object, operand);
  return number <= 0 ? number : set_converted(frame, object, operand);
}

int gufpy_set_output(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  operand->flags = operand->reserved = 0;
  if (object == Py_None) {
    operand->kind = GUF_OPERAND_NONE;
    return 0;
  }
  if (PyObject_TypeCheck(object, &gufpy_array_type)) {
    const int arrays = frame->arrays;
    set_array(frame, (gufpy_array *)object, operand);
    frame->arrays = arrays;
    return 0;
  }
  if (gufpy_is_output_ndarray(object)) return set_ndarray(frame, object, operand);
  if (gufpy_is_numpy_scalar(object)) return gufpy_refuse("return arrays must be of ArrayType");
  /* A writable buffer or an array of another library is written in place. The conversion rejects a
   * class that implements such a protocol, with a message that names the class. */
  if (PyObject_CheckBuffer(object) || PyObject_HasAttrString(object, "__dlpack__") ||
      PyObject_HasAttrString(object, "__cuda_array_interface__") || has_protocol(object)) {
    return set_converted(frame, object, operand);
  }
  gufpy_refuse("return arrays must be of ArrayType");
  return -1;
}

static int is_float_dtype(guf_dtype dtype) {
  const guf_dtype code = dtype & 0xff;
  return code == 2 || code == 4 || code == 5;
}

void gufpy_convert_huge(const gufpy_frame *frame, PyObject *const *objects, guf_operand *operands,
                        int count, guf_dtype loop_dtype) {
  if (!frame->huge) return;
  for (int i = 0; i < count && !is_float_dtype(loop_dtype); ++i) {
    guf_dtype dtype = 0;
    guf_array_info info = {.struct_size = sizeof info};
    if (operands[i].kind == GUF_OPERAND_TENSOR) dtype = operands[i].tensor->dtype;
    if (operands[i].kind == GUF_OPERAND_SCALAR) dtype = operands[i].dtype;
    if (operands[i].kind == GUF_OPERAND_ARRAY &&
        guf_array_get_info(operands[i].array, &info, NULL) == GUF_OK) {
      dtype = info.dtype;
    }
    const int weak =
        operands[i].kind == GUF_OPERAND_WEAK_FLOAT || operands[i].kind == GUF_OPERAND_WEAK_COMPLEX;
    if (operands[i].kind != GUF_OPERAND_WEAK_INT_HUGE && !is_float_dtype(dtype) && !weak) return;
  }
  for (int i = 0; i < count; ++i) {
    if (operands[i].kind != GUF_OPERAND_WEAK_INT_HUGE) continue;
    const double value = PyLong_AsDouble(objects[i]);
    if (value == -1 && PyErr_Occurred()) {
      PyErr_Clear();
    } else {
      set_double(value, GUF_OPERAND_WEAK_FLOAT, &operands[i]);
    }
  }
}

PyObject *gufpy_result(const gufpy_frame *frame, guf_array handle) {
  PyObject *array = gufpy_wrap_array(handle);
  if (array == NULL || frame->arrays || !((gufpy_array *)array)->on_host || !gufpy_numpy_ready()) {
    return array;
  }
  PyObject *result = gufpy_numpy_result((gufpy_array *)array, !frame->queued && !frame->no_scalar);
  Py_DECREF(array);
  return result;
}
