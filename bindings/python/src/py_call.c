/* SPDX-License-Identifier: Apache-2.0
 * Calls of ufuncs: their vectorcall function, and the method outer, which has the same
 * arguments. */
#include <stddef.h>

#include "pygufunc.h"

_Thread_local gufpy_fp_flags gufpy_thread_fp_flags;

int gufpy_report_fp_flags(uint32_t fp_flags, const gufpy_ufunc *ufunc) {
  if (fp_flags == 0 || gufpy.warn == NULL) return 0;
  PyObject *done = PyObject_CallFunction(gufpy.warn, "IO", fp_flags, (PyObject *)ufunc);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

const char *gufpy_name(const gufpy_ufunc *ufunc) {
  static _Thread_local guf_ufunc_info info;
  info.struct_size = sizeof info;
  info.name[0] = 0;
  (void)guf_ufunc_get_info(ufunc->base.handle, &info, NULL);
  const char *colon = strchr(info.name, ':');
  return colon == NULL ? info.name : colon + 1;
}

/* Finds the outputs, which are positional arguments or the arguments in out=. */
static int find_outputs(gufpy_call *call, PyObject *const *args, Py_ssize_t nargs) {
  const int nin = call->ufunc->nin;
  PyObject *out = call->keywords.out;
  if (call->ufunc->in_place && (nargs > nin || (out != NULL && out != Py_None))) {
    call->nout = call->ufunc->in_place;
  }
  const int nout = call->nout;
  for (int i = 0; i < nout; ++i) call->given[i] = nin + i < nargs ? args[nin + i] : NULL;
  for (Py_ssize_t i = nin; i < nargs; ++i) {
    if (args[i] == Py_Ellipsis) {
      return gufpy_refuse("out=... is only allowed as a keyword argument.");
    }
  }
  if (nargs > nin && call->keywords.has_out) {
    return gufpy_refuse("cannot specify 'out' as both a positional and keyword argument");
  }
  if (out == NULL || out == Py_None) return 0;
  if (!PyTuple_Check(out)) {
    if (nout != 1) {
      gufpy_refuse("'out' must be a tuple of arrays");
      return -1;
    }
    call->given[0] = out;
    return 0;
  }
  if (PyTuple_GET_SIZE(out) != nout) {
    gufpy_refuse("The 'out' tuple must have exactly one entry per ufunc output");
    return -1;
  }
  for (int i = 0; i < nout; ++i) {
    call->given[i] = PyTuple_GET_ITEM(out, i);
    if (call->given[i] == Py_Ellipsis) {
      return gufpy_refuse("must use `...` as `out=...` and not per-operand/in a tuple");
    }
  }
  return 0;
}

static int check_count(const gufpy_ufunc *ufunc, Py_ssize_t nargs) {
  const int nin = ufunc->nin, all = ufunc->nin + ufunc->nout + ufunc->in_place;
  if (nargs >= nin && nargs <= all) return 0;
  if (nin == all) {
    gufpy_refuse("%s() takes %d positional arguments but %zd were given", gufpy_name(ufunc), nin,
                 nargs);
  } else {
    gufpy_refuse("%s() takes from %d to %d positional arguments but %zd were given",
                 gufpy_name(ufunc), nin, all, nargs);
  }
  return -1;
}

/* Copies the keywords into the arguments of the call. */
static int set_arguments(gufpy_call *call) {
  const gufpy_keywords *keywords = &call->keywords;
  guf_call_args *args = &call->args;
  args->flags = keywords->keepdims ? GUF_CALL_KEEPDIMS : 0;
  args->options.stream = keywords->stream;
  args->options.device = keywords->device;
  args->options.threads = keywords->threads;
  args->casting = keywords->casting;
  args->order = keywords->order;
  args->host_policy = keywords->host_policy;
  args->dtype = keywords->dtype;
  args->nsignature = keywords->nsignature;
  args->signature = keywords->nsignature > 0 ? keywords->signature : NULL;
  args->naxes = keywords->naxes;
  args->axes = keywords->has_axes ? keywords->axes : NULL;
  args->ndims = keywords->ndims;
  args->dims = keywords->ndims > 0 ? keywords->dims : NULL;
  if (keywords->initial != NULL) {
    gufpy_refuse("%s() got an unexpected keyword argument 'initial'", gufpy_name(call->ufunc));
    return -1;
  }
  if (keywords->axis != NULL) {
    if (!PyIndex_Check(keywords->axis) || PyBool_Check(keywords->axis)) {
      return gufpy_refuse("axis: expected an integer, got %R", keywords->axis);
    }
    call->one_axis = PyNumber_AsSsize_t(keywords->axis, PyExc_OverflowError);
    if (call->one_axis == -1 && PyErr_Occurred()) return -1;
    args->axis = &call->one_axis;
  }
  if (keywords->where != NULL) {
    if (gufpy_set_mask(&call->frame, keywords->where, &call->where) != 0) return -1;
    args->where = &call->where;
  }
  return 0;
}

int gufpy_call_begin(gufpy_call *call, PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *names) {
  gufpy_ufunc *ufunc = (gufpy_ufunc *)self;
  const int nin = ufunc->nin;
  call->ufunc = ufunc;
  call->nout = ufunc->nout;
  call->fp_flags = 0;
  gufpy_keywords_begin(&call->keywords, 0);
  gufpy_frame_begin(&call->frame, 0);
  memset(&call->args, 0, sizeof call->args);
  call->args.struct_size = sizeof call->args;
  if (check_count(ufunc, nargs) != 0) return -1;
  if (names != NULL && gufpy_read_keywords(&call->keywords, ufunc, args + nargs, names) != 0) {
    return -1;
  }
  if (call->keywords.foreign != NULL &&
      gufpy_convert_stream(&call->frame, &call->keywords, args, nargs + PyTuple_GET_SIZE(names)) !=
          0) {
    return -1;
  }
  call->frame.queued = call->keywords.stream != NULL;
  call->frame.elsewhere = call->keywords.device != NULL;
  call->frame.no_scalar = call->keywords.no_scalar;
  if (find_outputs(call, args, nargs) != 0) return -1;
  const int nout = call->nout;
  for (int i = 0; i < nin; ++i) {
    const int written = nout == 0 && (ufunc->written >> i & 1) != 0;
    if ((written ? gufpy_set_output : gufpy_set_operand)(&call->frame, args[i],
                                                         &call->operands[i]) != 0) {
      return -1;
    }
  }
  gufpy_convert_huge(&call->frame, args, call->operands, nin, call->keywords.dtype);
  for (int i = 0; i < nout; ++i) {
    if (gufpy_set_output(&call->frame, call->given[i] == NULL ? Py_None : call->given[i],
                         &call->operands[nin + i]) != 0) {
      return -1;
    }
  }
  call->args.ninputs = nin;
  call->args.noutputs = nout;
  call->args.inputs = call->operands;
  call->args.outputs = call->operands + nin;
  call->args.options.fp_fail = gufpy_thread_fp_flags.fail;
  if (gufpy_thread_fp_flags.report != 0 && !call->frame.queued) {
    call->args.options.fp_report = gufpy_thread_fp_flags.report;
    call->args.options.fp_flags = &call->fp_flags;
  }
  return names != NULL ? set_arguments(call) : 0;
}

void gufpy_call_end(gufpy_call *call) {
  gufpy_frame_end(&call->frame);
}

PyObject *gufpy_call_results(gufpy_call *call) {
  const int nin = call->ufunc->nin, nout = call->nout;
  PyObject *results[GUF_MAX_OPERANDS];
  int failed = 0;
  for (int i = 0; i < nout; ++i) {
    PyObject *given = call->given[i];
    if (given != NULL && given != Py_None) {
      results[i] = Py_NewRef(given);
    } else {
      results[i] = gufpy_result(&call->frame, call->operands[nin + i].array);
    }
    failed |= results[i] == NULL;
  }
  if (!failed && call->fp_flags != 0)
    failed = gufpy_report_fp_flags(call->fp_flags, call->ufunc) != 0;
  if (!failed && nout == 1) return results[0];
  PyObject *tuple = failed || nout == 0 ? NULL : PyTuple_New(nout);
  for (int i = 0; i < nout; ++i) {
    if (tuple != NULL) {
      PyTuple_SET_ITEM(tuple, i, results[i]);
    } else {
      Py_XDECREF(results[i]);
    }
  }
  return !failed && nout == 0 ? Py_NewRef(Py_None) : tuple;
}

typedef guf_status (*call_fn)(guf_ufunc, guf_call_args *, guf_error *);

static guf_status run_call(call_fn function, gufpy_call *call, int all, guf_error *error) {
  if (!gufpy_releases_gil(&call->frame, all)) {
    call->args.options.threads = 1;
    return function(call->ufunc->base.handle, &call->args, error);
  }
  guf_status status = GUF_OK;
  Py_BEGIN_ALLOW_THREADS status = function(call->ufunc->base.handle, &call->args, error);
  Py_END_ALLOW_THREADS return status;
}

/* Whether a call that ran out of memory may be repeated. It must not be repeated if its loop may
 * have changed the inputs: either because the ufunc writes its inputs, or because an output that
 * the caller passed may overlap an input. If an allocation on a device failed, no work of the call
 * has started. */
static int may_try_again(const gufpy_call *call, guf_status status) {
  if (call->ufunc->written) return 0;
  for (int i = 0; status == GUF_E_NO_MEMORY && i < call->nout; ++i) {
    if (call->given[i] != NULL && call->given[i] != Py_None) return 0;
  }
  return 1;
}

/* Handles a failed call. This function is not inlined, so that successful calls stay fast. */
__attribute__((cold, noinline)) static guf_status run_again(call_fn function, gufpy_call *call,
                                                            guf_error *error, guf_status status) {
  if (!may_try_again(call, status) || !gufpy_freed_memory(status)) return status;
  Py_BEGIN_ALLOW_THREADS status = function(call->ufunc->base.handle, &call->args, error);
  Py_END_ALLOW_THREADS return status;
}

/* Returns -1 if a warning is an error. */
static inline int warn_of_keywords(const gufpy_call *call) {
  const gufpy_keywords *keywords = &call->keywords;
  if (keywords->where != NULL && !keywords->has_out && gufpy_warn_where(call) != 0) return -1;
  return keywords->casting == GUF_CASTING_UNSAFE ? gufpy_warn_complex_call(call) : 0;
}

PyObject *gufpy_ufunc_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) {
  gufpy_call call;
  gufpy_fast fast;
  PyObject *result = NULL;
  fast.state = 0;
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  int begun = gufpy_call_begin(&call, self, args, nargs, names);
  if (begun == 0 && names != NULL) begun = warn_of_keywords(&call);
  if (begun == 0 && names == NULL && nargs == call.ufunc->nin) {
    begun = gufpy_fast_begin(&fast, &call);
  }
  if (begun == 0) {
    guf_error *error = gufpy_error();
    guf_status status = run_call(guf_call, &call, call.ufunc->ncore, error);
    if (status != GUF_OK) status = run_again(guf_call, &call, error, status);
    if (status != GUF_OK) {
      if (fast.state == 2) Py_XDECREF(fast.array);
      gufpy_raise(status, error);
    } else {
      result = fast.state != 0 ? gufpy_fast_result(&fast, &call) : gufpy_call_results(&call);
    }
  }
  gufpy_call_end(&call);
  return result;
}

/* outer(a, b, /, **keywords) */
PyObject *gufpy_ufunc_outer(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *names) {
  gufpy_call call;
  PyObject *result = NULL;
  if (((gufpy_ufunc *)self)->nin == 2 && nargs != 2) {
    (void)gufpy_refuse("exactly two arguments expected, got %zd", nargs);
    return NULL;
  }
  if (((gufpy_ufunc *)self)->nin != 2) {
    guf_error error = {.argument = -1, .axis = -1};
    strcpy(error.message, "outer product only supported for binary functions");
    return gufpy_raise(GUF_E_VALUE, &error);
  }
  int begun = gufpy_call_begin(&call, self, args, nargs, names);
  if (begun == 0 && names != NULL) begun = warn_of_keywords(&call);
  if (begun == 0) {
    guf_error *error = gufpy_error();
    guf_status status = run_call(guf_outer, &call, 1, error);
    if (status != GUF_OK) status = run_again(guf_outer, &call, error, status);
    result = status == GUF_OK ? gufpy_call_results(&call) : gufpy_raise(status, error);
  }
  gufpy_call_end(&call);
  return result;
}

/* _set_fp_flags(report, fail) -> (report, fail): sets the flags for calls of this thread and
 * returns the previous ones. */
static PyObject *set_fp_flags(PyObject *self, PyObject *args) {
  (void)self;
  const gufpy_fp_flags before = gufpy_thread_fp_flags;
  unsigned int report = 0, fail = 0;
  if (!PyArg_ParseTuple(args, "II:_set_fp_flags", &report, &fail)) return NULL;
  gufpy_thread_fp_flags.report = report;
  gufpy_thread_fp_flags.fail = fail;
  return Py_BuildValue("II", before.report, before.fail);
}

static PyObject *forget_types(PyObject *self, PyObject *unused) {
  (void)self, (void)unused;
  gufpy_fast_forget();
  Py_RETURN_NONE;
}

PyMethodDef gufpy_call_functions[] = {{"_set_fp_flags", set_fp_flags, METH_VARARGS, NULL},
                                      {"_forget_types", forget_types, METH_NOARGS, NULL},
                                      {0}};

static PyObject *get_count(PyObject *self, void *place) {
  return PyLong_FromLong(*(int32_t *)((char *)self + (size_t)place));
}

static PyGetSetDef ufunc_getset[] = {
    {"nin", get_count, NULL, "The number of inputs.", (void *)offsetof(gufpy_ufunc, nin)},
    {"nout", get_count, NULL, "The number of outputs.", (void *)offsetof(gufpy_ufunc, nout)},
    {0}};

PyTypeObject gufpy_ufunc_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gufunc._gufunc.UfuncBase",
    .tp_base = &gufpy_handle_type,
    .tp_basicsize = sizeof(gufpy_ufunc),
    .tp_vectorcall_offset = offsetof(gufpy_ufunc, call),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_methods = gufpy_ufunc_methods,
    .tp_getset = ufunc_getset};
