/* SPDX-License-Identifier: Apache-2.0
 * NumPy's methods of ufuncs: reduce, accumulate, reduceat, at. */
#include "pygufunc.h"

enum { MAX_POSITIONAL = 7 };

/* The parameters of a method in NumPy's order. The first `nneeded` have no default. */
typedef struct {
  const char *name;
  int nneeded, ncount;
  const char *parameters[MAX_POSITIONAL];
} method_form;

static const method_form FORMS[] = {
    {"reduce", 1, 7, {"array", "axis", "dtype", "out", "keepdims", "initial", "where"}},
    {"accumulate", 1, 4, {"array", "axis", "dtype", "out"}},
    {"reduceat", 2, 5, {"array", "indices", "axis", "dtype", "out"}},
    {"at", 2, 3, {"a", "indices", "b"}}};

/* The index of a parameter, MAX_POSITIONAL for a keyword that this package adds, or -1. */
static int find_parameter(const method_form *form, PyObject *name) {
  static const char *const ADDED[] = {"stream", "device", "threads", "order", "parameters"};
  const int nadded = form == &FORMS[GUFPY_AT] ? 3 : form == &FORMS[GUFPY_REDUCE] ? 5 : 4;
  for (int place = 0; place < form->ncount; ++place) {
    if (PyUnicode_CompareWithASCIIString(name, form->parameters[place]) == 0) return place;
  }
  for (int i = 0; i < nadded; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, ADDED[i]) == 0) return MAX_POSITIONAL;
  }
  return -1;
}

static int read_argument(gufpy_method *method, const method_form *form, int place, PyObject *name,
                         PyObject *value, PyObject **first) {
  if (place < form->nneeded || (form == &FORMS[GUFPY_AT] && place < form->ncount)) {
    first[place] = value;
    return 0;
  }
  PyObject *word = name == NULL ? PyUnicode_FromString(form->parameters[place]) : Py_NewRef(name);
  const int failed =
      word == NULL || gufpy_keyword(&method->keywords, method->ufunc, word, value) != 0;
  Py_XDECREF(word);
  return failed ? -1 : 0;
}

static int read_arguments(gufpy_method *method, const method_form *form, PyObject *const *args,
                          Py_ssize_t nargs, PyObject *names, PyObject **first) {
  const Py_ssize_t nnames = names == NULL ? 0 : PyTuple_GET_SIZE(names);
  if (nargs > form->ncount) {
    return gufpy_refuse("%s() takes at most %d positional arguments but %zd were given", form->name,
                        form->ncount, nargs);
  }
  for (Py_ssize_t i = 0; i < nargs + nnames; ++i) {
    PyObject *name = i < nargs ? NULL : PyTuple_GET_ITEM(names, i - nargs);
    const int place = name == NULL ? (int)i : find_parameter(form, name);
    if (place < 0) {
      return gufpy_refuse("%s() got an unexpected keyword argument '%U'", form->name, name);
    }
    if (name != NULL && place < nargs) {
      return gufpy_refuse("argument for %s() given by name ('%U') and position (position %d)",
                          form->name, name, place);
    }
    if (read_argument(method, form, place, name, args[i], first) != 0) return -1;
  }
  for (int i = 0; i < form->nneeded; ++i) {
    if (first[i] != NULL) continue;
    return gufpy_refuse("%s() missing required argument '%s' (pos %d)", form->name,
                        form->parameters[i], i + 1);
  }
  return 0;
}

static int set_outputs(gufpy_method *method) {
  PyObject *out = method->keywords.out;
  for (int i = 0; i < method->noutputs; ++i) method->given[i] = NULL;
  if (out != NULL && PyTuple_Check(out)) {
    if (PyTuple_GET_SIZE(out) != method->noutputs) {
      gufpy_refuse("The 'out' tuple must have exactly one entry per ufunc output");
      return -1;
    }
    for (int i = 0; i < method->noutputs; ++i) method->given[i] = PyTuple_GET_ITEM(out, i);
  } else if (method->noutputs == 1) {
    method->given[0] = out;
  } else if (out != NULL && out != Py_None) {
    gufpy_refuse("'out' must be a tuple of arrays");
    return -1;
  }
  for (int i = 0; i < method->noutputs; ++i) {
    PyObject *given = method->given[i];
    if (gufpy_set_output(&method->frame, given == NULL ? Py_None : given, &method->outputs[i])) {
      return -1;
    }
  }
  return 0;
}

/* Converts an initial value that does not fit in 64 bits to a float if the input is
 * floating-point. */
static void convert_initial(gufpy_method *method, PyObject *input) {
  PyObject *const objects[] = {input, method->keywords.initial};
  guf_operand operands[] = {method->input, method->initial};
  gufpy_convert_huge(&method->frame, objects, operands, 2, method->keywords.dtype);
  method->initial = operands[1];
}

/* Sets the parameters of a reduction with a user-defined accumulator: a tuple, or one value. */
static int set_parameters(gufpy_method *method) {
  PyObject *const value = method->keywords.parameters;
  const int tuple = PyTuple_Check(value);
  const Py_ssize_t count = tuple ? PyTuple_GET_SIZE(value) : 1;
  if (count > GUF_MAX_NDIM) return gufpy_refuse("too many parameters: %zd", count);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *one = tuple ? PyTuple_GET_ITEM(value, i) : value;
    if (gufpy_set_operand(&method->frame, one, &method->several[i]) != 0) return -1;
  }
  method->reduce.parameters = method->several;
  method->reduce.nparameters = (int32_t)count;
  return 0;
}

static int set_reduce(gufpy_method *method, PyObject *input) {
  guf_reduce_args *args = &method->reduce;
  const gufpy_keywords *keywords = &method->keywords;
  args->struct_size = sizeof *args;
  args->flags = keywords->keepdims ? GUF_CALL_KEEPDIMS : 0;
  args->input = &method->input;
  if (method->ufunc->nresults > 0) {
    args->outputs = method->outputs;
    args->noutputs = method->noutputs;
  } else {
    args->output = method->outputs;
  }
  if (keywords->axis == Py_None) {
    args->naxis = GUF_ALL_AXES;
  } else if (keywords->axis != NULL) {
    args->naxis = gufpy_axes(keywords->axis, method->axes, GUF_MAX_NDIM, "axis");
    if (args->naxis < 0) return -1;
    args->axis = method->axes;
  }
  if (keywords->initial != NULL && keywords->initial != Py_Ellipsis) {
    /* initial=None means "no initial value", which is GUF_OPERAND_NONE. */
    method->initial = (guf_operand){.kind = GUF_OPERAND_NONE};
    if (keywords->initial != Py_None &&
        gufpy_set_operand(&method->frame, keywords->initial, &method->initial) != 0) {
      return -1;
    }
    convert_initial(method, input);
    args->initial = &method->initial;
  }
  if (keywords->where != NULL) {
    if (gufpy_set_mask(&method->frame, keywords->where, &method->where) != 0) return -1;
    args->where = &method->where;
  }
  if (keywords->parameters != NULL && set_parameters(method) != 0) return -1;
  args->order = keywords->order;
  args->dtype = keywords->dtype;
  return 0;
}

static int32_t ndim_of(const guf_operand *operand) {
  guf_array_info info = {.struct_size = sizeof info};
  if (operand->kind == GUF_OPERAND_TENSOR) return operand->tensor->ndim;
  if (operand->kind != GUF_OPERAND_ARRAY) return 0;
  return guf_array_get_info(operand->array, &info, NULL) == GUF_OK ? info.ndim : 0;
}

/* Reads the axis of accumulate and reduceat, which work along one axis. None selects the only axis
 * of a 1-d array. */
static int read_one_axis(gufpy_method *method, const char *name) {
  PyObject *axis = method->keywords.axis;
  int count = 1;
  if (axis == Py_None) {
    method->axes[0] = 0;
    if (ndim_of(&method->input) > 1) count = 2;
  } else {
    count = gufpy_axes(axis, method->axes, GUF_MAX_NDIM, "axis");
  }
  if (count < 0) return -1;
  return count == 1 ? 0 : gufpy_refuse("%s does not allow multiple axes", name);
}

static int set_accumulate(gufpy_method *method, PyObject *indices) {
  guf_accumulate_args *args = &method->accumulate;
  const gufpy_keywords *keywords = &method->keywords;
  args->struct_size = sizeof *args;
  args->input = &method->input;
  args->output = method->outputs;
  args->order = keywords->order;
  args->dtype = keywords->dtype;
  if (keywords->axis != NULL) {
    if (read_one_axis(method, indices == NULL ? "accumulate" : "reduceat") != 0) return -1;
    args->axis = method->axes[0];
  }
  if (indices != NULL) {
    if (gufpy_set_indices(&method->frame, indices, &method->indices) != 0) return -1;
    args->indices = &method->indices;
  }
  return 0;
}

static int set_at(gufpy_method *method, PyObject *const *first) {
  guf_at_args *args = &method->at;
  args->struct_size = sizeof *args;
  args->array = &method->input;
  args->indices = method->several;
  PyObject *const indices = first[1];
  const int tuple = PyTuple_Check(indices);
  const Py_ssize_t count = tuple ? PyTuple_GET_SIZE(indices) : 1;
  if (count > GUFPY_MAX_OPERANDS - 4) {
    PyErr_SetString(PyExc_IndexError, "too many indices for array");
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *index = tuple ? PyTuple_GET_ITEM(indices, i) : indices;
    if (gufpy_set_operand(&method->frame, index, &method->several[i]) != 0) return -1;
  }
  args->nindices = (int32_t)count;
  if (first[2] != NULL && first[2] != Py_None) {
    if (gufpy_set_operand(&method->frame, first[2], &method->initial) != 0) return -1;
    args->operand = &method->initial;
  }
  return 0;
}

/* Sets the options that all methods have. */
static void set_options(gufpy_method *method) {
  const uint32_t report = method->frame.queued ? 0 : gufpy_thread_fp_flags.report;
  const guf_call_options options = {.stream = method->keywords.stream,
                                    .device = method->keywords.device,
                                    .threads = method->keywords.threads,
                                    .fp_flags = report != 0 ? &method->fp_flags : NULL,
                                    .fp_report = report,
                                    .fp_fail = gufpy_thread_fp_flags.fail};
  method->reduce.options = method->accumulate.options = method->at.options = options;
}

int gufpy_method_begin(gufpy_method *method, gufpy_method_kind kind, PyObject *self,
                       PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
  PyObject *first[MAX_POSITIONAL] = {NULL};
  memset(method, 0, sizeof *method);
  method->ufunc = (gufpy_ufunc *)self;
  gufpy_keywords_begin(&method->keywords, 1);
  gufpy_frame_begin(&method->frame, 0);
  if (read_arguments(method, &FORMS[kind], args, nargs, names, first) != 0) return -1;
  if (method->keywords.foreign != NULL &&
      gufpy_convert_stream(&method->frame, &method->keywords, args,
                           nargs + (names == NULL ? 0 : PyTuple_GET_SIZE(names))) != 0) {
    return -1;
  }
  method->frame.queued = method->keywords.stream != NULL;
  method->frame.elsewhere = method->keywords.device != NULL;
  method->frame.no_scalar = method->keywords.no_scalar;
  const int written = kind == GUFPY_AT;
  if ((written ? gufpy_set_output : gufpy_set_operand)(&method->frame, first[0], &method->input)) {
    return -1;
  }
  method->noutputs = kind == GUFPY_AT ? 0 : method->ufunc->nresults;
  if (kind != GUFPY_AT && method->noutputs == 0) method->noutputs = 1;
  if (set_outputs(method) != 0) return -1;
  set_options(method);
  switch (kind) {
    case GUFPY_REDUCE:
      return set_reduce(method, first[0]);
    case GUFPY_AT:
      return set_at(method, first);
    case GUFPY_ACCUMULATE:
    case GUFPY_REDUCEAT:
      break;
  }
  return set_accumulate(method, first[1]);
}

guf_request gufpy_method_request(const gufpy_method *method, gufpy_method_kind kind) {
  static const int32_t OPERATIONS[] = {GUF_OPERATION_REDUCE, GUF_OPERATION_ACCUMULATE,
                                       GUF_OPERATION_REDUCEAT, GUF_OPERATION_AT};
  return (guf_request){.struct_size = sizeof(guf_request),
                       .operation = OPERATIONS[kind],
                       .reduce = &method->reduce,
                       .accumulate = &method->accumulate,
                       .at = &method->at};
}

static guf_status run_method(gufpy_method *method, gufpy_method_kind kind, guf_error *error) {
  const guf_ufunc ufunc = method->ufunc->base.handle;
  switch (kind) {
    case GUFPY_REDUCE:
      return guf_reduce(ufunc, &method->reduce, error);
    case GUFPY_ACCUMULATE:
      return guf_accumulate(ufunc, &method->accumulate, error);
    case GUFPY_REDUCEAT:
      return guf_reduceat(ufunc, &method->accumulate, error);
    case GUFPY_AT:
      break;
  }
  return guf_at(ufunc, &method->at, error);
}

static PyObject *method_results(gufpy_method *method) {
  PyObject *tuple = method->noutputs == 1 ? NULL : PyTuple_New(method->noutputs);
  int failed = method->noutputs != 1 && tuple == NULL;
  PyObject *one = NULL;
  for (int i = 0; i < method->noutputs; ++i) {
    PyObject *given = method->given[i];
    PyObject *result = given != NULL && given != Py_None
                           ? Py_NewRef(given)
                           : gufpy_result(&method->frame, method->outputs[i].array);
    failed |= result == NULL;
    if (tuple != NULL) {
      PyTuple_SET_ITEM(tuple, i, result);
    } else {
      Py_XSETREF(one, result);
    }
  }
  if (!failed && method->fp_flags != 0) {
    failed = gufpy_report_fp_flags(method->fp_flags, method->ufunc) != 0;
  }
  PyObject *answer = tuple != NULL ? tuple : one;
  if (failed) Py_CLEAR(answer);
  if (!failed && method->noutputs == 0) {
    Py_DECREF(answer);
    Py_RETURN_NONE;
  }
  return answer;
}

static PyObject *call_method(gufpy_method_kind kind, PyObject *self, PyObject *const *args,
                             Py_ssize_t nargs, PyObject *names) {
  gufpy_method method;
  PyObject *result = NULL;
  int begun = gufpy_method_begin(&method, kind, self, args, nargs, names);
  const int casts = kind == GUFPY_AT || method.keywords.dtype != 0 || method.keywords.has_out;
  if (begun == 0 && casts) begun = gufpy_warn_complex_method(&method, kind);
  if (begun == 0) {
    guf_error *error = gufpy_error();
    guf_status status = GUF_OK;
    const int releases_gil = gufpy_releases_gil(&method.frame, method.ufunc->ncore);
    int tries = 0;
    if (!releases_gil) {
      method.reduce.options.threads = method.accumulate.options.threads = 1;
      method.at.options.threads = 1;
    }
    do {
      if (releases_gil) {
        Py_BEGIN_ALLOW_THREADS status = run_method(&method, kind, error);
        Py_END_ALLOW_THREADS
      } else {
        status = run_method(&method, kind, error);
      }
    } while (status != GUF_OK && kind != GUFPY_AT && tries++ == 0 && gufpy_freed_memory(status));
    result = status == GUF_OK ? method_results(&method) : gufpy_raise(status, error);
  }
  gufpy_frame_end(&method.frame);
  return result;
}

#define GUFPY_METHOD(name, kind)                                                 \
  static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs, \
                        PyObject *names) {                                       \
    return call_method(kind, self, args, nargs, names);                          \
  }
GUFPY_METHOD(ufunc_reduce, GUFPY_REDUCE)
GUFPY_METHOD(ufunc_accumulate, GUFPY_ACCUMULATE)
GUFPY_METHOD(ufunc_reduceat, GUFPY_REDUCEAT)
GUFPY_METHOD(ufunc_at, GUFPY_AT)

#define GUFPY_FASTCALL(function) \
  (PyCFunction)(void (*)(void)) function, METH_FASTCALL | METH_KEYWORDS
PyMethodDef gufpy_ufunc_methods[] = {
    {"reduce", GUFPY_FASTCALL(ufunc_reduce),
     "reduce($self, /, array, axis=0, dtype=None, out=None, keepdims=False, initial=...,\n"
     "       where=True, *, stream=None, device=None, order='K', threads=0, parameters=())\n--\n\n"
     "Reduces elements along axes, as NumPy's reduce does. The reduced axes are removed, or have\n"
     "extent 1 with keepdims. None reduces all axes. Without `initial` a reduction starts from\n"
     "the identity, if there is one. `parameters` is a number, or a tuple of numbers, for a\n"
     "reduction with a user-defined accumulator, such as ddof of var. AxisError for an axis that\n"
     "the array does not have, ShapeError for a ufunc without a reduction, or if there is no\n"
     "identity and there are no elements."},
    {"accumulate", GUFPY_FASTCALL(ufunc_accumulate),
     "accumulate($self, /, array, axis=0, dtype=None, out=None, *, stream=None, device=None,\n"
     "           order='K', threads=0)\n--\n\n"
     "Returns all partial results along an axis. The result has the shape of the array. Raises the "
     "errors of reduce."},
    {"reduceat", GUFPY_FASTCALL(ufunc_reduceat),
     "reduceat($self, /, array, indices, axis=0, dtype=None, out=None, *, stream=None,\n"
     "         device=None, order='K', threads=0)\n--\n\n"
     "Reduces slices of an axis. Each index starts a slice, so the axis of the result has one\n"
     "element per index. IndexOutOfRange for an index outside the axis; other errors are those\n"
     "of reduce."},
    {"at", GUFPY_FASTCALL(ufunc_at),
     "at($self, /, a, indices, b=None, *, stream=None, device=None, threads=0)\n--\n\n"
     "a[indices] = op(a[indices], b), applied once per occurrence of an index."},
    {"outer", GUFPY_FASTCALL(gufpy_ufunc_outer),
     "outer($self, A, B, /, **keywords)\n--\n\n"
     "Applies a binary ufunc to all pairs of elements. The result has the axes of A, then the\n"
     "axes of B. DTypeError for a generalized ufunc."},
    {0}};
