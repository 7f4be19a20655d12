/* SPDX-License-Identifier: Apache-2.0
 * Export and import of arrays by the buffer protocol, without copies. */
#include "pygufunc.h"

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
