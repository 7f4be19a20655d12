/* SPDX-License-Identifier: Apache-2.0
 * The keywords of calls and methods: NumPy's and the library's own. */
#include "pygufunc.h"

void gufpy_keywords_begin(gufpy_keywords *keywords, int in_method) {
  keywords->in_method = in_method;
  keywords->has_out = keywords->has_axes = 0;
  /* The arrays in `keywords` are not cleared, because each has a count of the elements in use. */
  keywords->out = keywords->where = keywords->initial = keywords->axis = NULL;
  keywords->parameters = NULL;
  keywords->foreign = NULL;
  keywords->stream = NULL;
  keywords->device = NULL;
  keywords->casting = keywords->order = keywords->host_policy = keywords->keepdims = 0;
  keywords->no_scalar = 0;
  keywords->dtype = 0;
  keywords->threads = 0;
  keywords->nsignature = keywords->naxes = keywords->ndims = 0;
}

/* Reads one of `words` and writes its index; `what` names the keyword. */
static int read_word(PyObject *value, const char *const *words, int count, const char *what,
                     int32_t *out) {
  const char *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
  if (PyBytes_Check(value)) text = PyBytes_AS_STRING(value);
  for (int i = 0; text != NULL && i < count; ++i) {
    if (words[i] != NULL && strcmp(words[i], text) == 0) {
      *out = i;
      return 0;
    }
  }
  if (!PyErr_Occurred()) {
    gufpy_refuse("%s cannot be %R", what, value);
  }
  return -1;
}

static int read_out(gufpy_keywords *keywords, PyObject *value) {
  keywords->has_out = 1;
  keywords->no_scalar = value == Py_Ellipsis;
  keywords->out = value == Py_Ellipsis ? NULL : value;
  return 0;
}

static int read_where(gufpy_keywords *keywords, PyObject *value) {
  keywords->where = value == Py_True ? NULL : value;
  return 0;
}

__attribute__((cold)) int gufpy_set_indices(gufpy_frame *frame, PyObject *object,
                                            guf_operand *operand) {
  const int on_host =
      PyObject_TypeCheck(object, &gufpy_array_type) && ((gufpy_array *)object)->on_host;
  if (on_host || gufpy_is_ndarray(object)) return gufpy_set_operand(frame, object, operand);
  if (frame->nkept == GUFPY_MAX_OPERANDS) return gufpy_refuse("too many operands");
  PyObject *indices = PyObject_CallOneArg(gufpy.as_indices, object);
  if (indices == NULL) return -1;
  frame->kept[frame->nkept++] = indices;
  const int arrays = frame->arrays;
  if (gufpy_set_operand(frame, indices, operand) != 0) return -1;
  if (!PyObject_TypeCheck(object, &gufpy_array_type)) frame->arrays = arrays;
  return 0;
}

/* Lists and numbers are converted to bool, as in NumPy. For arrays the library requires a safe cast
 * to bool. */
int gufpy_set_mask(gufpy_frame *frame, PyObject *object, guf_operand *operand) {
  if (PyBool_Check(object) || PyObject_TypeCheck(object, &gufpy_array_type) ||
      (PyObject_CheckBuffer(object) && !gufpy_is_numpy_scalar(object))) {
    return gufpy_set_operand(frame, object, operand);
  }
  if (frame->nkept == GUFPY_MAX_OPERANDS) return gufpy_refuse("too many operands");
  PyObject *mask = PyObject_CallFunction(gufpy.convert, "Os", object, "bool");
  if (mask == NULL) return -1;
  frame->kept[frame->nkept++] = mask;
  /* A converted host object does not count as an array of this package, so the results are
   * ndarrays. */
  const int arrays = frame->arrays;
  if (gufpy_set_operand(frame, mask, operand) != 0) return -1;
  if (!PyObject_TypeCheck(mask, &gufpy_array_type) || ((gufpy_array *)mask)->on_host) {
    frame->arrays = arrays;
  }
  return 0;
}

static int read_casting(gufpy_keywords *keywords, PyObject *value) {
  static const char *const WORDS[] = {NULL, "no", "equiv", "safe", "same_kind", "unsafe"};
  return read_word(value, WORDS, 6, "casting", &keywords->casting);
}

static int read_order(gufpy_keywords *keywords, PyObject *value) {
  static const char *const WORDS[] = {"K", "C", "F", "A", "k", "c", "f", "a"};
  if (value == Py_None) return 0;
  if (read_word(value, WORDS, 8, "order", &keywords->order) != 0) return -1;
  keywords->order %= 4;
  return 0;
}

static int read_host_policy(gufpy_keywords *keywords, PyObject *value) {
  static const char *const WORDS[] = {"default", "copy", "warn"};
  return read_word(value, WORDS, 3, "host_policy", &keywords->host_policy);
}

static int read_dtype(gufpy_keywords *keywords, PyObject *value) {
  if (value == Py_None) return 0;
  PyObject *code = PyObject_CallOneArg(gufpy.parse_dtype, value);
  if (code == NULL) return -1;
  keywords->dtype = (guf_dtype)PyLong_AsUnsignedLong(code);
  Py_DECREF(code);
  return PyErr_Occurred() ? -1 : 0;
}

static int read_signature(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *value) {
  if (value == Py_None) return 0;
  if (keywords->nsignature > 0) return gufpy_refuse("cannot specify both 'sig' and 'signature'");
  PyObject *codes = PyObject_CallFunction(gufpy.parse_signature, "OO", value, (PyObject *)ufunc);
  if (codes == NULL) return -1;
  int64_t numbers[GUF_MAX_OPERANDS];
  const int count = gufpy_integers(codes, numbers, GUF_MAX_OPERANDS, "signature");
  for (int i = 0; i < count; ++i) keywords->signature[i] = (guf_dtype)numbers[i];
  keywords->nsignature = count;
  Py_DECREF(codes);
  return count < 0 ? -1 : 0;
}

/* Rejects a keyword that only generalized ufuncs accept. The library also rejects it, but values
 * that are equal to the default are not passed to the library. */
__attribute__((cold)) static int refuse_core(const gufpy_keywords *keywords,
                                             const gufpy_ufunc *ufunc, const char *name) {
  if (ufunc->ncore || keywords->in_method) return 0;
  return gufpy_refuse("%s() got an unexpected keyword argument '%s'", gufpy_name(ufunc), name);
}

/* Reads axes=, a list with one entry per operand: an axis or a tuple of axes. */
static int read_axes(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *value) {
  if (!PyList_Check(value)) {
    gufpy_refuse("axes should be a list.");
    return -1;
  }
  const Py_ssize_t count = PyList_GET_SIZE(value);
  if (count != ufunc->nin + ufunc->nout && count != ufunc->nin) {
    gufpy_refuse(
        "axes should be a list with an entry for all %d inputs and outputs; entries for "
        "outputs can only be omitted if none of them has core axes.",
        ufunc->nin + ufunc->nout);
    return -1;
  }
  int used = 0;
  for (int i = 0; i < count; ++i) {
    int64_t *const axis = keywords->axis_of_axes + used;
    const int naxis =
        gufpy_axes(PyList_GET_ITEM(value, i), axis, GUF_MAX_CORE_STRIDES - used, "axes item");
    if (naxis < 0) return -1;
    keywords->axes[i] = (guf_core_axes){.axis = axis, .naxis = naxis};
    used += naxis;
  }
  keywords->has_axes = 1;
  keywords->naxes = (int32_t)count;
  return 0;
}

static int read_dims(gufpy_keywords *keywords, PyObject *value) {
  PyObject *name = NULL, *size = NULL;
  Py_ssize_t place = 0;
  if (!PyDict_Check(value)) {
    gufpy_refuse("dims must be a dict of names and sizes");
    return -1;
  }
  while (PyDict_Next(value, &place, &name, &size)) {
    if (keywords->ndims == GUF_MAX_CORE_NAMES) {
      gufpy_refuse("dims: too many names");
      return -1;
    }
    if (!PyUnicode_Check(name) || !PyIndex_Check(size)) {
      return gufpy_refuse("dims: expected a str and an integer, got %R: %R", name, size);
    }
    guf_dim *dim = &keywords->dims[keywords->ndims++];
    dim->name = PyUnicode_AsUTF8(name);
    dim->size = PyNumber_AsSsize_t(size, PyExc_OverflowError);
    if (dim->name == NULL || PyErr_Occurred()) return -1;
  }
  return 0;
}

static int read_device(gufpy_keywords *keywords, PyObject *value) {
  if (!PyUnicode_Check(value)) {
    return gufpy_get_handle(value, GUFPY_DEVICE, (void **)&keywords->device);
  }
  const char *spec = PyUnicode_AsUTF8(value);
  if (spec == NULL) return -1;
  guf_error *error = gufpy_error();
  guf_status status = GUF_OK;
  Py_BEGIN_ALLOW_THREADS status = guf_device_get(NULL, spec, &keywords->device, error);
  Py_END_ALLOW_THREADS if (status != GUF_OK) gufpy_raise(status, error);
  return status == GUF_OK ? 0 : -1;
}

static int read_stream(gufpy_keywords *keywords, PyObject *value) {
  keywords->foreign = NULL;
  if (value == Py_None || PyObject_TypeCheck(value, gufpy.classes[GUFPY_STREAM])) {
    return gufpy_get_handle(value, GUFPY_STREAM, (void **)&keywords->stream);
  }
  keywords->stream = NULL;
  keywords->foreign = value;
  return 0;
}

int gufpy_convert_stream(gufpy_frame *frame, gufpy_keywords *keywords, PyObject *const *args,
                         Py_ssize_t count) {
  guf_device device = keywords->device;
  for (Py_ssize_t i = 0; device == NULL && i < count; ++i) {
    if (!PyObject_TypeCheck(args[i], &gufpy_array_type)) continue;
    const gufpy_array *array = (const gufpy_array *)args[i];
    if (!array->on_host) device = array->device;
  }
  PyObject *place = gufpy_wrap_handle(GUFPY_DEVICE, device);
  if (place == NULL) return -1;
  PyObject *made = PyObject_CallFunctionObjArgs(gufpy.as_stream, keywords->foreign, place, NULL);
  Py_DECREF(place);
  if (made == NULL) return -1;
  frame->kept[frame->nkept++] = made; /* the first entry, so the array is not full */
  return gufpy_get_handle(made, GUFPY_STREAM, (void **)&keywords->stream);
}

/* As in NumPy, keepdims is a bool for a call and an integer for a method. */
static int read_keepdims(gufpy_keywords *keywords, PyObject *value) {
  if (PyBool_Check(value)) {
    keywords->keepdims = value == Py_True;
    return 0;
  }
  if (!keywords->in_method || !PyIndex_Check(value)) {
    return gufpy_refuse("'keepdims' must be a boolean, got %R", value);
  }
  const Py_ssize_t number = PyNumber_AsSsize_t(value, PyExc_OverflowError);
  keywords->keepdims = number != 0;
  return number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Results are never subclasses of ndarray, so the value of subok= has no effect. */
static int read_subok(PyObject *value) {
  return PyBool_Check(value) ? 0 : gufpy_refuse("'subok' must be a boolean, got %R", value);
}

static int read_threads(gufpy_keywords *keywords, PyObject *value) {
  const Py_ssize_t threads = PyNumber_AsSsize_t(value, NULL); /* out-of-range values are clipped */
  if (threads == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    return gufpy_refuse("threads: expected an integer, got %R", value);
  }
  if (threads < 0 || (size_t)threads > UINT32_MAX) {
    return gufpy_refuse("threads: expected 0 to %u, got %R", UINT32_MAX, value);
  }
  keywords->threads = (uint32_t)threads;
  return 0;
}

int gufpy_keyword(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *name,
                  PyObject *value) {
  const char *text = PyUnicode_AsUTF8(name);
  if (text == NULL) return -1;
  if (strcmp(text, "out") == 0) return read_out(keywords, value);
  if (strcmp(text, "where") == 0) return read_where(keywords, value);
  if (strcmp(text, "axis") == 0) {
    keywords->axis = value;
    return value == Py_None ? refuse_core(keywords, ufunc, "axis") : 0;
  }
  if (strcmp(text, "initial") == 0) {
    keywords->initial = value;
    return 0;
  }
  if (strcmp(text, "parameters") == 0 && keywords->in_method) {
    keywords->parameters = value;
    return 0;
  }
  if (strcmp(text, "dtype") == 0) return read_dtype(keywords, value);
  if (strcmp(text, "keepdims") == 0) {
    if (read_keepdims(keywords, value) != 0) return -1;
    return keywords->keepdims ? 0 : refuse_core(keywords, ufunc, "keepdims");
  }
  if (strcmp(text, "casting") == 0) return read_casting(keywords, value);
  if (strcmp(text, "order") == 0) return read_order(keywords, value);
  if (strcmp(text, "stream") == 0) return read_stream(keywords, value);
  if (strcmp(text, "device") == 0) return read_device(keywords, value);
  if (strcmp(text, "signature") == 0 || strcmp(text, "sig") == 0) {
    return read_signature(keywords, ufunc, value);
  }
  if (strcmp(text, "axes") == 0) return read_axes(keywords, ufunc, value);
  if (strcmp(text, "dims") == 0) return read_dims(keywords, value);
  if (strcmp(text, "host_policy") == 0) return read_host_policy(keywords, value);
  if (strcmp(text, "threads") == 0) return read_threads(keywords, value);
  if (strcmp(text, "subok") == 0) return read_subok(value);
  gufpy_refuse("%s() got an unexpected keyword argument '%U'", gufpy_name(ufunc), name);
  return -1;
}

int gufpy_read_keywords(gufpy_keywords *keywords, const gufpy_ufunc *ufunc, PyObject *const *values,
                        PyObject *names) {
  const Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (gufpy_keyword(keywords, ufunc, PyTuple_GET_ITEM(names, i), values[i]) != 0) return -1;
  }
  return 0;
}
