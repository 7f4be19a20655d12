/* SPDX-License-Identifier: Apache-2.0
 * The input of `swig -python` in addition to gufunc.i. Handles become objects that release
 * themselves, an error status becomes an exception, and output parameters become results. src/
 * implements the functions with operands or callbacks. */
%module(package="gufunc", threads="1") lowlevel
%nothread; /* gufunc.i selects the exceptions, which are the blocking functions */

%{
#include "pygufunc.h"

/* Appends a value to the results of a function. Takes ownership of both references. */
static PyObject *gufpy_append(PyObject *result, PyObject *value) {
  if (result == NULL || value == NULL) {
    Py_XDECREF(result);
    Py_XDECREF(value);
    return NULL;
  }
  if (result == Py_None) {
    Py_DECREF(result);
    return value;
  }
  PyObject *tuple = PyTuple_Check(result) ? Py_NewRef(result) : PyTuple_Pack(1, result);
  PyObject *one = PyTuple_Pack(1, value);
  PyObject *both = tuple != NULL && one != NULL ? PySequence_Concat(tuple, one) : NULL;
  Py_XDECREF(tuple);
  Py_XDECREF(one);
  Py_DECREF(result);
  Py_DECREF(value);
  return both;
}

/* The functions below convert numbers and strings for the C interface. Error messages use the
 * parameter names of the headers. */
static int gufpy_number(PyObject *object, const char *what, int64_t least, uint64_t most,
                        uint64_t *out) {
  PyObject *number = PyNumber_Index(object);
  if (number == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
    PyErr_Clear();
    return gufpy_refuse("%s: expected an integer, got %R", what, object);
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  int fits = overflow == 0 && value >= least && (value < 0 || (uint64_t)value <= most);
  *out = (uint64_t)value;
  if (overflow > 0) {
    *out = PyLong_AsUnsignedLongLong(number);
    fits = !PyErr_Occurred() && *out <= most;
    PyErr_Clear();
  }
  if (!fits) {
    gufpy_refuse("%s: expected %lld to %llu, got %R", what, (long long)least,
                 (unsigned long long)most, number);
  }
  Py_DECREF(number);
  return fits ? 0 : -1;
}

static int gufpy_text(PyObject *object, const char *what, const char **out) {
  Py_ssize_t length = 0;
  *out = NULL;
  if (object == Py_None) return 0;
  if (!PyUnicode_Check(object)) return gufpy_refuse("%s: expected a str, got %R", what, object);
  *out = PyUnicode_AsUTF8AndSize(object, &length);
  if (*out == NULL) return -1;
  if (strlen(*out) == (size_t)length) return 0;
  return gufpy_refuse("%s: expected a str without NUL, got %R", what, object);
}
%}

%init %{
  if (gufpy_add_to(m) != 0) return NULL;
%}

/* Statuses. A status of a query or a wait (1..99) is returned, and an error is raised as an
 * exception. */
%typemap(in, numinputs=0) guf_error *error "$1 = gufpy_error();"
%typemap(out) guf_status {
  if ($1 >= 100) {
    gufpy_raise($1, gufpy_error());
    SWIG_fail;
  }
  $result = $1 == GUF_OK ? Py_NewRef(Py_None) : PyLong_FromLong($1);
}

%typemap(out) guf_status state "$result = PyLong_FromLong($1);"

/* Functions that allocate. If memory runs out, the wrapper collects garbage, because reference
 * cycles may keep arrays alive, and calls the function once more. */
%define GUFPY_ALLOCATES(FUNCTION)
%exception FUNCTION {
  $action
  if (result != GUF_OK && gufpy_freed_memory(result)) {
    $action
  }
}
%enddef
GUFPY_ALLOCATES(guf_array_alloc)
GUFPY_ALLOCATES(guf_array_alloc_host)
GUFPY_ALLOCATES(guf_array_copy)
GUFPY_ALLOCATES(guf_array_astype)
GUFPY_ALLOCATES(guf_array_assign)
GUFPY_ALLOCATES(guf_array_to_device)
GUFPY_ALLOCATES(guf_array_copy_to_host)
GUFPY_ALLOCATES(guf_plan_launch)

/* Numbers and strings that a function reads. */
%define GUFPY_INTEGER(TYPE, LEAST, MOST)
%typemap(in) TYPE (uint64_t number) {
  if (gufpy_number($input, "$1_name", LEAST, MOST, &number) != 0) SWIG_fail;
  $1 = (TYPE)number;
}
%enddef
GUFPY_INTEGER(uint32_t, 0, UINT32_MAX)
GUFPY_INTEGER(uint64_t, 0, UINT64_MAX)
GUFPY_INTEGER(int32_t, INT32_MIN, INT32_MAX)
%typemap(in) const char * (const char *text) {
  if (gufpy_text($input, "$1_name", &text) != 0) SWIG_fail;
  $1 = (char *)text;
}
%typemap(freearg) const char * "";

/* Handles. */
%define GUFPY_HANDLE(TYPE, KIND, OUT)
%typemap(in) TYPE (void *handle = NULL) {
  if (gufpy_get_handle($input, KIND, &handle) != 0) SWIG_fail;
  $1 = (TYPE)handle;
}
%typemap(in, numinputs=0) TYPE *OUT (TYPE made = NULL) "$1 = &made;"
%typemap(argout) TYPE *OUT {
  $result = gufpy_append($result, gufpy_wrap_handle(KIND, *$1));
  if ($result == NULL) SWIG_fail;
}
%enddef
GUFPY_HANDLE(guf_context, GUFPY_CONTEXT, out_context)
GUFPY_HANDLE(guf_device, GUFPY_DEVICE, out_device)
GUFPY_HANDLE(guf_array, GUFPY_ARRAY, out_array)
GUFPY_HANDLE(guf_stream, GUFPY_STREAM, out_stream)
GUFPY_HANDLE(guf_event, GUFPY_EVENT, out_event)
GUFPY_HANDLE(guf_ufunc, GUFPY_UFUNC, out_ufunc)
GUFPY_HANDLE(guf_module, GUFPY_MODULE, out_module)
GUFPY_HANDLE(guf_plan, GUFPY_PLAN, out_plan)
GUFPY_HANDLE(guf_kernel, GUFPY_KERNEL, out_kernel)
GUFPY_HANDLE(guf_graph, GUFPY_GRAPH, out_graph)

/* An array or graph into which the function writes, or None for a new one. The result is the given
 * object or the new one. */
%define GUFPY_INOUT(TYPE, KIND, NAME)
%typemap(in) TYPE *NAME (TYPE made = NULL, void *handle = NULL) {
  if (gufpy_get_handle($input, KIND, &handle) != 0) SWIG_fail;
  made = (TYPE)handle;
  $1 = &made;
}
%typemap(argout) TYPE *NAME {
  if ($input != Py_None) {
    $result = gufpy_append($result, Py_NewRef($input));
  } else {
    $result = gufpy_append($result, gufpy_wrap_handle(KIND, *$1));
  }
  if ($result == NULL) SWIG_fail;
}
%enddef
GUFPY_INOUT(guf_array, GUFPY_ARRAY, inout_array)
GUFPY_INOUT(guf_graph, GUFPY_GRAPH, inout_graph)

/* Numbers that a function writes. */
%define GUFPY_NUMBER(TYPE, OUT, MAKE)
%typemap(in, numinputs=0) TYPE *OUT (TYPE made = 0) "$1 = &made;"
%typemap(argout) TYPE *OUT {
  $result = gufpy_append($result, MAKE(*$1));
  if ($result == NULL) SWIG_fail;
}
%enddef
GUFPY_NUMBER(uint32_t, out_ran, PyLong_FromUnsignedLong)
GUFPY_NUMBER(uint32_t, out_count, PyLong_FromUnsignedLong)
GUFPY_NUMBER(uint32_t, out_multiple, PyLong_FromUnsignedLong)
GUFPY_NUMBER(guf_dtype, out_dtype, PyLong_FromUnsignedLong)
GUFPY_NUMBER(int32_t, out_level, PyLong_FromLong)
GUFPY_NUMBER(int32_t, out_possible, PyLong_FromLong)
GUFPY_NUMBER(int32_t, out_unit, PyLong_FromLong)
GUFPY_NUMBER(uint64_t, out_native, PyLong_FromUnsignedLongLong)
GUFPY_NUMBER(uint64_t, out_nbytes, PyLong_FromUnsignedLongLong)
GUFPY_NUMBER(uint64_t, out_alignment, PyLong_FromUnsignedLongLong)
GUFPY_NUMBER(double, out_milliseconds, PyFloat_FromDouble)

/* Strings of a known maximum length. */
%typemap(in, numinputs=0) (char *name, uint64_t capacity) (char text[256]) {
  $1 = text;
  $2 = sizeof text;
}
%typemap(argout) (char *name, uint64_t capacity) {
  $result = gufpy_append($result, PyUnicode_FromString($1));
}
%typemap(in, numinputs=0) (char *text, size_t capacity) (char text[1024]) {
  $1 = text;
  $2 = sizeof text;
}
%typemap(argout) (char *text, size_t capacity) {
  $result = gufpy_append($result, PyUnicode_FromString($1));
}

/* Structures that a function writes. They become objects whose attributes are the fields. */
%define GUFPY_RECORD(TYPE, OUT)
%typemap(in, numinputs=0) TYPE *OUT (TYPE made) {
  memset(&made, 0, sizeof made);
  made.struct_size = sizeof made;
  $1 = &made;
}
%typemap(argout) TYPE *OUT {
  TYPE *kept = malloc(sizeof *kept);
  if (kept == NULL) SWIG_exception_fail(SWIG_MemoryError, "no memory");
  *kept = *$1;
  $result = gufpy_append(
      $result, SWIG_NewPointerObj(kept, $descriptor(TYPE *), SWIG_POINTER_OWN));
}
%immutable TYPE::struct_size;
%enddef
GUFPY_RECORD(guf_backend_info, out_info)
GUFPY_RECORD(guf_device_info, out_info)
GUFPY_RECORD(guf_dtype_info, out_info)
GUFPY_RECORD(guf_device_memory, out_memory)
GUFPY_RECORD(guf_ufunc_info, out_info)
GUFPY_RECORD(guf_module_info, out_info)
GUFPY_RECORD(guf_kernel_info, out_info)
GUFPY_RECORD(guf_kernel_device_info, out_info)
%typemap(in, numinputs=0) guf_module_parameter *out_parameter (guf_module_parameter made) {
  memset(&made, 0, sizeof made);
  $1 = &made;
}
%typemap(argout) guf_module_parameter *out_parameter {
  $result = gufpy_append($result, Py_BuildValue("iIiI", $1->kind, $1->dtype, $1->ndim, $1->flags));
}
%define GUFPY_NUMBERS(type, name)
%typemap(out) type name[ANY] {
  $result = PyTuple_New($1_dim0);
  for (int i = 0; $result != NULL && i < $1_dim0; ++i) {
    PyTuple_SET_ITEM($result, i, PyLong_FromLongLong($1[i]));
  }
}
%immutable guf_ufunc_info::name;
%enddef
GUFPY_NUMBERS(int32_t, roles)
GUFPY_NUMBERS(int32_t, core_ndim)
GUFPY_NUMBERS(int32_t, core_dims)
GUFPY_NUMBERS(uint32_t, core_flags)
GUFPY_NUMBERS(int64_t, core_sizes)

/* C arrays with a count. Python passes a sequence or None for the array, and the count as a separate
 * argument. */
%typemap(in) const int64_t * (int64_t numbers[GUF_MAX_NDIM] = {0}) {
  $1 = NULL;
  if ($input != Py_None) {
    if (gufpy_integers($input, numbers, GUF_MAX_NDIM, "$1_name") < 0) SWIG_fail;
    $1 = numbers;
  }
}
%typemap(in) const uint64_t *addresses (uint64_t numbers[GUF_MAX_NDIM] = {0}) {
  PyObject *items = PySequence_Tuple($input);
  if (items == NULL) SWIG_fail;
  const Py_ssize_t count = PyTuple_GET_SIZE(items);
  int wrong = 0;
  for (Py_ssize_t i = 0; !wrong && i < count && i < GUF_MAX_NDIM; ++i) {
    wrong = gufpy_number(PyTuple_GET_ITEM(items, i), "$1_name", 0, UINT64_MAX, &numbers[i]);
  }
  Py_DECREF(items);
  if (wrong) SWIG_fail;
  $1 = numbers;
}
%typemap(in) const guf_dtype *types (guf_dtype codes[GUF_MAX_NDIM] = {0}) {
  int64_t numbers[GUF_MAX_NDIM];
  const int count = gufpy_integers($input, numbers, GUF_MAX_NDIM, "$1_name");
  if (count < 0) SWIG_fail;
  for (int i = 0; i < count; ++i) codes[i] = (guf_dtype)numbers[i];
  $1 = codes;
}
%typemap(in) (int32_t ntypes, guf_dtype *out_types) (guf_dtype codes[GUF_MAX_NDIM]) {
  $1 = (int32_t)PyLong_AsLong($input);
  if (PyErr_Occurred() || $1 < 0 || $1 > GUF_MAX_NDIM) {
    SWIG_exception_fail(SWIG_ValueError, "ntypes");
  }
  $2 = codes;
}
%typemap(argout) (int32_t ntypes, guf_dtype *out_types) {
  PyObject *types = PyTuple_New($1);
  for (int32_t i = 0; types != NULL && i < $1; ++i) {
    PyTuple_SET_ITEM(types, i, PyLong_FromUnsignedLong($2[i]));
  }
  $result = gufpy_append($result, types);
}

/* Host memory that a function writes, which is passed as a contiguous buffer. */
%typemap(in) (void *destination, uint64_t nbytes) (Py_buffer view, int held = 0) {
  if (PyObject_GetBuffer($input, &view, PyBUF_WRITABLE | PyBUF_ANY_CONTIGUOUS) != 0) SWIG_fail;
  held = 1;
  $1 = view.buf;
  $2 = (uint64_t)view.len;
}
%typemap(freearg) (void *destination, uint64_t nbytes) "if (held$argnum) PyBuffer_Release(&view$argnum);"

/* Structures passed by reference. */
%typemap(in) const guf_reduction_desc *desc (guf_reduction_desc made, void *first_handle, void *second_handle) {
  PyObject *first = NULL, *second = NULL;
  memset(&made, 0, sizeof made);
  made.struct_size = sizeof made;
  if (!PyArg_ParseTuple($input, "OO", &first, &second) ||
      gufpy_get_handle(first, GUFPY_UFUNC, &first_handle) != 0 ||
      gufpy_get_handle(second, GUFPY_UFUNC, &second_handle) != 0) {
    SWIG_fail;
  }
  made.merge = (guf_ufunc)first_handle;
  made.finish = (guf_ufunc)second_handle;
  $1 = &made;
}

/* Functions and structures with operands or callbacks, which src/ implements. */
%ignore guf_error; %ignore guf_tensor; %ignore guf_operand; %ignore guf_array_info;
%ignore guf_module_loop; %ignore guf_module_function; %ignore guf_module_image;
%ignore guf_module_parameter; %ignore guf_module_parameters; %ignore guf_module_kernel;
%ignore guf_kernel_head; %ignore guf_module_v1; %ignore guf_ufunc_desc; %ignore guf_loop_desc;
%ignore guf_reduction_desc; %ignore guf_core_axes; %ignore guf_dim; %ignore guf_call_args;
%ignore guf_resolution;
%ignore guf_reduce_args; %ignore guf_accumulate_args; %ignore guf_at_args;
%ignore guf_chunk_options; %ignore guf_request;
%ignore guf_array_wrap; %ignore guf_array_get_info; %ignore guf_array_fill; %ignore guf_array_print;
%ignore guf_ufunc_create; %ignore guf_ufunc_add_loop; %ignore guf_module_register;
%ignore guf_apply; %ignore guf_call; %ignore guf_resolve; %ignore guf_explain; %ignore guf_plan_create;
%ignore guf_plan_explain; %ignore guf_reduce; %ignore guf_accumulate; %ignore guf_reduceat;
%ignore guf_outer; %ignore guf_at; %ignore guf_call_chunked;
%ignore guf_kernel_launch;
%ignore guf_dlpack_tensor; %ignore guf_dlpack; %ignore guf_dlpack_unversioned;
%ignore guf_array_from_dlpack; %ignore guf_array_to_dlpack;
%ignore guf_array_from_dlpack_unversioned; %ignore guf_array_to_dlpack_unversioned;
/* Programs do not need these functions, because the objects retain and release their handles. */
%rename("$ignore", regexmatch$name="^guf_[a-z]+_(retain|release)$") "";

%include "../gufunc.i"
