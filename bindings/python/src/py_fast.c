/* SPDX-License-Identifier: Apache-2.0
 * Writes the results of plain calls on NumPy operands directly into memory of NumPy. This avoids
 * creating an array of the library and an ndarray over that array. The result dtype depends only on
 * the operands' dtypes. The first call with these dtypes uses the general path, and its result
 * dtype is cached. */
#include "pygufunc.h"

static uint32_t generation = 1;

void gufpy_fast_forget(void) {
  ++generation;
}

/* Writes the key of an operand: the operand's dtype or, for a weak scalar, its kind. All dtype
 * codes are greater than the kinds, so the keys are distinct. Returns 0 if the operand has no
 * key. */
static int find_key(const guf_operand *operand, uint32_t *key) {
  switch (operand->kind) {
    case GUF_OPERAND_TENSOR:
      *key = operand->tensor->dtype;
      return (operand->tensor->flags & GUF_TENSOR_SWAPPED) == 0;
    case GUF_OPERAND_SCALAR:
      *key = operand->dtype;
      return 1;
    case GUF_OPERAND_WEAK_INT:
    case GUF_OPERAND_WEAK_FLOAT:
    case GUF_OPERAND_WEAK_COMPLEX:
      *key = (uint32_t)operand->kind;
      return 1;
    default:
      return 0;
  }
}

static int is_plain(const guf_tensor *tensor, int64_t itemsize) {
  if (tensor->ndim <= 1) return 1;
  int64_t stride = itemsize;
  for (int32_t i = tensor->ndim - 1; i >= 0; --i) {
    if (tensor->strides[i] != stride) return 0;
    stride *= tensor->shape[i];
  }
  return 1;
}

static int64_t itemsize_of(guf_dtype dtype) {
  const guf_dtype code = dtype & 0xff;
  if (code < 0x80) return (dtype >> 8 & 0xff) / 8;
  return code == 0x82 ? 0 : 8;
}

/* Finds a tensor with the common shape of all operands that have dimensions. `*out` is NULL if no
 * operand has dimensions. Returns 0 if the shapes differ or an operand is not contiguous. */
static int find_shape(const gufpy_call *call, const guf_tensor **out) {
  *out = NULL;
  for (int i = 0; i < call->ufunc->nin; ++i) {
    if (call->operands[i].kind != GUF_OPERAND_TENSOR) continue;
    const guf_tensor *tensor = call->operands[i].tensor;
    if (tensor->ndim == 0) continue;
    if (!is_plain(tensor, itemsize_of(tensor->dtype))) return 0;
    if (*out == NULL) *out = tensor;
    if (tensor->ndim != (*out)->ndim) return 0;
    for (int32_t axis = 0; axis < tensor->ndim; ++axis) {
      if (tensor->shape[axis] != (*out)->shape[axis]) return 0;
    }
  }
  return 1;
}

static int set_output(gufpy_fast *fast, gufpy_call *call, const guf_tensor *shape) {
  guf_operand *output = &call->operands[call->ufunc->nin];
  fast->array = NULL;
  if (shape != NULL) {
    fast->array = gufpy_numpy_new(fast->found.result, shape->ndim, shape->shape);
    if (fast->array == NULL || gufpy_numpy_tensor(fast->array, &fast->tensor) != 0) {
      Py_XDECREF(fast->array);
      return -1;
    }
  } else {
    fast->tensor = (guf_tensor){.struct_size = sizeof fast->tensor};
    fast->tensor.dtype = fast->found.result;
    fast->tensor.address = (uint64_t)(uintptr_t)fast->element;
  }
  output->kind = GUF_OPERAND_TENSOR;
  output->tensor = &fast->tensor;
  fast->state = 2;
  return 0;
}

int gufpy_fast_begin(gufpy_fast *fast, gufpy_call *call) {
  gufpy_ufunc *ufunc = call->ufunc;
  const guf_tensor *shape = NULL;
  if (ufunc->ncore || ufunc->nout != 1 || ufunc->nin > GUFPY_FAST_INPUTS || call->frame.arrays) {
    return 0;
  }
  memset(&fast->found, 0, sizeof fast->found);
  for (int i = 0; i < ufunc->nin; ++i) {
    if (!find_key(&call->operands[i], &fast->found.keys[i])) return 0;
  }
  if (!find_shape(call, &shape) || !gufpy_numpy_ready()) return 0;
  if (ufunc->generation != generation) {
    memset(ufunc->dtype_cache, 0, sizeof ufunc->dtype_cache);
    ufunc->generation = generation;
  }
  for (int i = 0; i < GUFPY_FAST_ENTRIES; ++i) {
    const gufpy_dtype_cache_entry *entry = &ufunc->dtype_cache[i];
    if (entry->result != 0 && memcmp(entry->keys, fast->found.keys, sizeof entry->keys) == 0) {
      fast->found.result = entry->result;
      return set_output(fast, call, shape);
    }
  }
  fast->state = 1;
  return 0;
}

PyObject *gufpy_fast_result(gufpy_fast *fast, gufpy_call *call) {
  if (fast->state == 1) {
    guf_array_info info;
    guf_dtype_info type;
    info.struct_size = sizeof info;
    type.struct_size = sizeof type;
    const guf_operand *output = &call->operands[call->ufunc->nin];
    /* Structured dtypes and floating-point types that NumPy lacks always use the general path. */
    if (guf_array_get_info(output->array, &info, NULL) == GUF_OK && itemsize_of(info.dtype) > 0 &&
        guf_dtype_get_info(info.dtype, &type, NULL) == GUF_OK && type.kind != GUF_KIND_BFLOAT) {
      fast->found.result = info.dtype;
      call->ufunc->dtype_cache[call->ufunc->next++ % GUFPY_FAST_ENTRIES] = fast->found;
    }
    return gufpy_call_results(call);
  }
  PyObject *result = fast->array;
  if (result == NULL) result = gufpy_numpy_scalar(fast->tensor.dtype, fast->element);
  if (result != NULL && call->fp_flags != 0 &&
      gufpy_report_fp_flags(call->fp_flags, call->ufunc) != 0) {
    Py_CLEAR(result);
  }
  return result;
}
