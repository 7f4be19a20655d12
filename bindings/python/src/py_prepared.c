/* SPDX-License-Identifier: Apache-2.0
 * Calls that are resolved, explained or prepared as plans, and launches of raw kernels. */
#include "pygufunc.h"

static PyObject *resolution_dict(const guf_resolution *found, int nout) {
  PyObject *dtypes = PyList_New(found->noperands), *loop = PyList_New(found->noperands);
  PyObject *shapes = PyList_New(nout);
  for (int i = 0; dtypes != NULL && loop != NULL && i < found->noperands; ++i) {
    PyList_SET_ITEM(dtypes, i, PyLong_FromUnsignedLong(found->dtypes[i]));
    PyList_SET_ITEM(loop, i, PyLong_FromUnsignedLong(found->loop_dtypes[i]));
  }
  for (int i = 0; shapes != NULL && i < nout; ++i) {
    PyObject *shape = PyTuple_New(found->output_ndims[i]);
    for (int axis = 0; shape != NULL && axis < found->output_ndims[i]; ++axis) {
      PyTuple_SET_ITEM(shape, axis, PyLong_FromLongLong(found->output_shapes[i][axis]));
    }
    PyList_SET_ITEM(shapes, i, shape);
  }
  if (dtypes == NULL || loop == NULL || shapes == NULL || PyErr_Occurred()) {
    Py_XDECREF(dtypes);
    Py_XDECREF(loop);
    Py_XDECREF(shapes);
    return NULL;
  }
  return Py_BuildValue("{sIsNsNsN}", "loop", found->loop, "loop_dtypes", loop, "dtypes", dtypes,
                       "shapes", shapes);
}

static int is_ufunc(PyObject *const *args, Py_ssize_t nargs) {
  if (nargs > 0 && PyObject_TypeCheck(args[0], &gufpy_ufunc_type)) return 1;
  PyErr_SetString(PyExc_TypeError, "expected a Ufunc");
  return 0;
}

typedef enum { REQUEST_CALL = GUFPY_AT + 1, REQUEST_OUTER } request_kind;

static int kind_of(PyObject *name) {
  static const char *const NAMES[] = {"reduce", "accumulate", "reduceat", "at", "call", "outer"};
  const char *text = PyUnicode_AsUTF8(name);
  for (int i = 0; text != NULL && i < 6; ++i) {
    if (strcmp(NAMES[i], text) == 0) return i;
  }
  return text == NULL ? -1 : gufpy_refuse("no method %R", name);
}

/* A call or method whose arguments were read, and which is resolved or explained but not run. */
typedef struct {
  int kind;
  gufpy_call call;
  gufpy_method method;
} request_t;

static guf_status query(request_t *request, guf_resolution *out, char *text, uint64_t *length,
                        guf_error *error) {
  const int is_call = request->kind >= REQUEST_CALL;
  const gufpy_ufunc *ufunc = is_call ? request->call.ufunc : request->method.ufunc;
  guf_request made;
  if (is_call) {
    const int32_t operation =
        request->kind == REQUEST_CALL ? GUF_OPERATION_CALL : GUF_OPERATION_OUTER;
    made = (guf_request){
        .struct_size = sizeof made, .operation = operation, .call = &request->call.args};
  } else {
    made = gufpy_method_request(&request->method, (gufpy_method_kind)request->kind);
  }
  const guf_ufunc handle = ufunc != NULL ? ufunc->base.handle : NULL;
  if (out != NULL) return guf_resolve(handle, &made, out, error);
  return guf_explain(handle, &made, text, length, error);
}

static PyObject *explain_text(request_t *request) {
  uint64_t length = 2048;
  for (;;) {
    const uint64_t capacity = length;
    char *text = PyMem_Malloc(capacity);
    if (text == NULL) return PyErr_NoMemory();
    guf_error *error = gufpy_error();
    const guf_status status = query(request, NULL, text, &length, error);
    PyObject *result = status == GUF_OK ? PyUnicode_FromString(text) : NULL;
    PyMem_Free(text);
    if (status == GUF_E_BUFFER_TOO_SMALL && length > capacity) continue;
    return status == GUF_OK ? result : gufpy_raise(status, error);
  }
}

static PyObject *resolve_types(request_t *request) {
  guf_resolution *found = PyMem_Calloc(1, sizeof *found);
  if (found == NULL) return PyErr_NoMemory();
  found->struct_size = sizeof *found;
  guf_error *error = gufpy_error();
  const guf_status status = query(request, found, NULL, NULL, error);
  const int nout = request->kind >= REQUEST_CALL ? request->call.nout : request->method.noutputs;
  PyObject *result = status == GUF_OK ? resolution_dict(found, nout) : gufpy_raise(status, error);
  PyMem_Free(found);
  return result;
}

/* query(explain, method, ufunc, *args, **keywords): the text of explain, or the resolution. */
static PyObject *run_query(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *names) {
  (void)self;
  if (nargs < 3 || !is_ufunc(args + 2, nargs - 2)) return NULL;
  request_t *request = PyMem_Calloc(1, sizeof *request);
  if (request == NULL) return PyErr_NoMemory();
  request->kind = kind_of(args[1]);
  int begun = -1;
  if (request->kind >= REQUEST_CALL) {
    begun = gufpy_call_begin(&request->call, args[2], args + 3, nargs - 3, names);
  } else if (request->kind >= 0) {
    begun = gufpy_method_begin(&request->method, (gufpy_method_kind)request->kind, args[2],
                               args + 3, nargs - 3, names);
  }
  PyObject *result = NULL;
  if (begun == 0) {
    result = PyObject_IsTrue(args[0]) ? explain_text(request) : resolve_types(request);
  }
  gufpy_frame_end(request->kind >= REQUEST_CALL ? &request->call.frame : &request->method.frame);
  PyMem_Free(request);
  return result;
}

/* plan_create(ufunc, *args, **keywords) */
static PyObject *plan_create(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                             PyObject *names) {
  (void)self;
  if (!is_ufunc(args, nargs)) return NULL;
  gufpy_call call;
  PyObject *result = NULL;
  if (gufpy_call_begin(&call, args[0], args + 1, nargs - 1, names) == 0) {
    guf_plan plan = NULL;
    guf_error *error = gufpy_error();
    guf_status status = GUF_OK;
    Py_BEGIN_ALLOW_THREADS status =
        guf_plan_create(call.ufunc->base.handle, &call.args, &plan, error);
    Py_END_ALLOW_THREADS result =
        status == GUF_OK ? gufpy_wrap_handle(GUFPY_PLAN, plan) : gufpy_raise(status, error);
  }
  gufpy_call_end(&call);
  return result;
}

/* plan_explain(plan) */
static PyObject *plan_explain(PyObject *self, PyObject *plan) {
  (void)self;
  void *handle = NULL;
  if (gufpy_get_handle(plan, GUFPY_PLAN, &handle) != 0) return NULL;
  uint64_t length = 0;
  guf_error *error = gufpy_error();
  guf_status status = guf_plan_explain(handle, NULL, &length, error);
  if (status != GUF_E_BUFFER_TOO_SMALL) return gufpy_raise(status, error);
  char *text = PyMem_Malloc(length);
  if (text == NULL) return PyErr_NoMemory();
  status = guf_plan_explain(handle, text, &length, error);
  PyObject *result = status == GUF_OK ? PyUnicode_FromString(text) : gufpy_raise(status, error);
  PyMem_Free(text);
  return result;
}

/* kernel_launch(kernel, stream, grid, block, shared_bytes, arguments) */
static PyObject *kernel_launch(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *kernel = NULL, *stream = NULL, *arguments = NULL;
  unsigned int grid[3], block[3], shared = 0;
  void *handle = NULL, *queue = NULL;
  if (!PyArg_ParseTuple(args, "OO(III)(III)IO!:kernel_launch", &kernel, &stream, &grid[0], &grid[1],
                        &grid[2], &block[0], &block[1], &block[2], &shared, &PyTuple_Type,
                        &arguments) ||
      gufpy_get_handle(kernel, GUFPY_KERNEL, &handle) != 0 ||
      gufpy_get_handle(stream, GUFPY_STREAM, &queue) != 0) {
    return NULL;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  if (count > GUF_MAX_KERNEL_PARAMETERS) {
    gufpy_refuse("%zd arguments, a kernel has at most %d", count, (int)GUF_MAX_KERNEL_PARAMETERS);
    return NULL;
  }
  guf_operand operands[GUF_MAX_KERNEL_PARAMETERS];
  gufpy_frame frame;
  gufpy_frame_begin(&frame, queue != NULL);
  int begun = 0;
  for (Py_ssize_t i = 0; begun == 0 && i < count; ++i) {
    begun = gufpy_set_operand(&frame, PyTuple_GET_ITEM(arguments, i), &operands[i]);
  }
  PyObject *result = NULL;
  if (begun == 0) {
    guf_error *error = gufpy_error();
    guf_status status = GUF_OK;
    Py_BEGIN_ALLOW_THREADS status =
        guf_kernel_launch(handle, queue, grid, block, shared, (int32_t)count, operands, error);
    Py_END_ALLOW_THREADS result =
        status == GUF_OK ? Py_NewRef(Py_None) : gufpy_raise(status, error);
  }
  gufpy_frame_end(&frame);
  return result;
}

PyMethodDef gufpy_prepared_functions[] = {
    {"query", (PyCFunction)(void (*)(void))run_query, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"plan_create", (PyCFunction)(void (*)(void))plan_create, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"plan_explain", plan_explain, METH_O, NULL},
    {"kernel_launch", kernel_launch, METH_VARARGS, NULL},
    {0}};
