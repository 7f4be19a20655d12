/* SPDX-License-Identifier: Apache-2.0
 * NumPy's warnings before a call or a method runs. A call that may discard imaginary parts is first
 * resolved: the casts of the resolution show whether the call discards them. */
#include "pygufunc.h"

static int is_complex_array(guf_array array) {
  guf_array_info info;
  info.struct_size = sizeof info;
  return guf_array_get_info(array, &info, NULL) == GUF_OK && gufpy_is_complex_dtype(info.dtype);
}

static int is_complex(const guf_operand *operand) {
  switch (operand->kind) {
    case GUF_OPERAND_WEAK_COMPLEX:
      return 1;
    case GUF_OPERAND_SCALAR:
      return gufpy_is_complex_dtype(operand->dtype);
    case GUF_OPERAND_TENSOR:
      return gufpy_is_complex_dtype(operand->tensor->dtype);
    case GUF_OPERAND_ARRAY:
      return is_complex_array(operand->array);
    default:
      return 0;
  }
}

/* A cast to bool tests the whole complex number and does not discard the imaginary part. */
static int loses_imaginary(guf_dtype from, guf_dtype to) {
  const guf_dtype code = to & 0xff;
  return gufpy_is_complex_dtype(from) && (code == 0 || code == 1 || code == 2 || code == 4);
}

/* Warns if a cast of the resolution discards imaginary parts. Operands `first` to `end` - 1 are the
 * inputs. */
static int warn_of(const guf_resolution *found, int first, int end) {
  int lost = 0;
  for (int i = 0; i < found->noperands; ++i) {
    const guf_dtype operand = found->dtypes[i], loop = found->loop_dtypes[i];
    lost |= i >= first && i < end ? loses_imaginary(operand, loop) : loses_imaginary(loop, operand);
  }
  if (!lost || gufpy.warn_complex == NULL) return 0;
  PyObject *done = PyObject_CallNoArgs(gufpy.warn_complex);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

int gufpy_warn_where(const gufpy_call *call) {
  for (int i = 0; i < call->nout; ++i) {
    if (call->given[i] != NULL && call->given[i] != Py_None) return 0;
  }
  return PyErr_WarnEx(PyExc_UserWarning,
                      "'where' used without 'out', expect unitialized memory in output. If this "
                      "is intentional, use out=None.",
                      1);
}

int gufpy_warn_complex_call(const gufpy_call *call) {
  const gufpy_keywords *keywords = &call->keywords;
  int may = gufpy_is_complex_dtype(keywords->dtype) || keywords->nsignature > 0;
  for (int i = 0; i < call->ufunc->nin && !may; ++i) may = is_complex(&call->operands[i]);
  if (!may) return 0;
  guf_resolution *found = PyMem_Calloc(1, sizeof *found);
  if (found == NULL) return PyErr_NoMemory() == NULL ? -1 : 0;
  found->struct_size = sizeof *found;
  int failed = 0;
  const guf_request request = {
      .struct_size = sizeof request, .operation = GUF_OPERATION_CALL, .call = &call->args};
  if (guf_resolve(call->ufunc->base.handle, &request, found, NULL) == GUF_OK) {
    failed = warn_of(found, 0, call->ufunc->nin);
  }
  PyMem_Free(found);
  return failed;
}

static int is_given(PyObject *output) {
  return output != NULL && output != Py_None;
}

/* Whether a method may discard imaginary parts. Methods cast to a given dtype or output with
 * casting='unsafe'. */
static int may_discard_imaginary(const gufpy_method *method, gufpy_method_kind kind) {
  const guf_dtype dtype = method->keywords.dtype;
  if (method->ufunc->nresults > 0) return 0;
  if (kind == GUFPY_AT) return method->at.operand != NULL && is_complex(&method->initial);
  return (dtype != 0 || is_given(method->given[0])) &&
         (gufpy_is_complex_dtype(dtype) || is_complex(&method->input));
}

int gufpy_warn_complex_method(const gufpy_method *method, gufpy_method_kind kind) {
  if (!may_discard_imaginary(method, kind)) return 0;
  const guf_ufunc ufunc = method->ufunc->base.handle;
  guf_resolution *found = PyMem_Calloc(1, sizeof *found);
  if (found == NULL) return PyErr_NoMemory() == NULL ? -1 : 0;
  found->struct_size = sizeof *found;
  const guf_request request = gufpy_method_request(method, kind);
  const guf_status status = guf_resolve(ufunc, &request, found, NULL);
  const int first = kind == GUFPY_AT ? 0 : 1;
  const int end = kind == GUFPY_AT ? found->noperands - 1 : 2;
  const int failed = status == GUF_OK ? warn_of(found, first, end) : 0;
  PyMem_Free(found);
  return failed;
}
