/* SPDX-License-Identifier: Apache-2.0
 * Loops over compiled functions, which are passed by address. The loop keeps the object that owns
 * the function alive. The function may acquire the GIL. */
#include "pygufunc.h"

enum { MAX_INPUTS = 4 };

/* A function, its last argument, and the Python object that owns the function. */
typedef struct {
  void *function, *user;
  PyObject *owner;
} owned_pointer;

static void drop_pointer(void *user) {
  owned_pointer *pointer = user;
  gufpy_release_object(pointer->owner, 0);
  PyMem_RawFree(pointer);
}

static void numpy_loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  const owned_pointer *pointer = user;
  guf_loop_numpy loop = NULL;
  memcpy(&loop, &pointer->function, sizeof loop);
  GUFPY_ENTRY(entry);
  entry.inside = 1;
  loop(args, dims, steps, pointer->user);
  entry.inside = 0;
}

static guf_status status_loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  const owned_pointer *pointer = user;
  guf_loop_status loop = NULL;
  memcpy(&loop, &pointer->function, sizeof loop);
  GUFPY_ENTRY(entry);
  entry.inside = 1;
  const guf_status status = loop(args, dims, steps, pointer->user);
  entry.inside = 0;
  return status;
}

static guf_status error_loop(char **args, const int64_t *dims, const int64_t *steps, void *user,
                             guf_error *error) {
  const owned_pointer *pointer = user;
  guf_loop_error loop = NULL;
  memcpy(&loop, &pointer->function, sizeof loop);
  GUFPY_ENTRY(entry);
  entry.inside = 1;
  const guf_status status = loop(args, dims, steps, pointer->user, error);
  entry.inside = 0;
  return status;
}

/* Defines a loop over a function of numbers. `pass` is the argument list with which the function is
 * called, where in[i] is input i. Cython's cpdef functions have an additional int parameter,
 * skip. */
#define SCALAR_LOOP(name, type, count, parameters, pass)                                    \
  static void name(char **args, const int64_t *dims, const int64_t *steps, void *user) {    \
    const owned_pointer *pointer = user;                                                    \
    type(*function) parameters = NULL;                                                      \
    memcpy(&function, &pointer->function, sizeof function);                                 \
    GUFPY_ENTRY(entry);                                                                     \
    entry.inside = 1;                                                                       \
    for (int64_t i = 0; i < dims[0]; ++i) {                                                 \
      type in[count], out;                                                                  \
      for (int k = 0; k < count; ++k) memcpy(&in[k], args[k] + i * steps[k], sizeof(type)); \
      out = function pass;                                                                  \
      memcpy(args[count] + i * steps[count], &out, sizeof(type));                           \
    }                                                                                       \
    entry.inside = 0;                                                                       \
  }
#define SCALAR_LOOPS(prefix, T)                                                         \
  SCALAR_LOOP(prefix##1, T, 1, (T), (in[0]))                                            \
  SCALAR_LOOP(prefix##2, T, 2, (T, T), (in[0], in[1]))                                  \
  SCALAR_LOOP(prefix##3, T, 3, (T, T, T), (in[0], in[1], in[2]))                        \
  SCALAR_LOOP(prefix##4, T, 4, (T, T, T, T), (in[0], in[1], in[2], in[3]))              \
  SCALAR_LOOP(prefix##1_skip, T, 1, (T, int), (in[0], 0))                               \
  SCALAR_LOOP(prefix##2_skip, T, 2, (T, T, int), (in[0], in[1], 0))                     \
  SCALAR_LOOP(prefix##3_skip, T, 3, (T, T, T, int), (in[0], in[1], in[2], 0))           \
  SCALAR_LOOP(prefix##4_skip, T, 4, (T, T, T, T, int), (in[0], in[1], in[2], in[3], 0)) \
  static const guf_loop_numpy prefix##_loops[2][MAX_INPUTS] = {                         \
      {prefix##1, prefix##2, prefix##3, prefix##4},                                     \
      {prefix##1_skip, prefix##2_skip, prefix##3_skip, prefix##4_skip}};

SCALAR_LOOPS(float_of, float)
SCALAR_LOOPS(double_of, double)
SCALAR_LOOPS(int8_of, int8_t)
SCALAR_LOOPS(uint8_of, uint8_t)
SCALAR_LOOPS(int16_of, int16_t)
SCALAR_LOOPS(uint16_of, uint16_t)
SCALAR_LOOPS(int32_of, int32_t)
SCALAR_LOOPS(uint32_of, uint32_t)
SCALAR_LOOPS(int64_of, int64_t)
SCALAR_LOOPS(uint64_of, uint64_t)

static const struct {
  guf_dtype dtype;
  const guf_loop_numpy (*loops)[MAX_INPUTS];
} KNOWN_SCALARS[] = {{GUF_F32, float_of_loops}, {GUF_F64, double_of_loops},
                     {GUF_I8, int8_of_loops},   {GUF_U8, uint8_of_loops},
                     {GUF_I16, int16_of_loops}, {GUF_U16, uint16_of_loops},
                     {GUF_I32, int32_of_loops}, {GUF_U32, uint32_of_loops},
                     {GUF_I64, int64_of_loops}, {GUF_U64, uint64_of_loops}};

/* Returns the loop for a function with `count - 1` parameters and a result of the same type. */
static guf_loop_numpy scalar_loop(const guf_dtype *types, int count, int skip) {
  for (int i = 1; i < count; ++i) {
    if (types[i] != types[0]) count = 0;
  }
  for (size_t i = 0; i < sizeof KNOWN_SCALARS / sizeof *KNOWN_SCALARS; ++i) {
    if (count < 2 || count > MAX_INPUTS + 1) break;
    if (types[0] == KNOWN_SCALARS[i].dtype) return KNOWN_SCALARS[i].loops[skip][count - 2];
  }
  PyErr_SetString(PyExc_TypeError,
                  "a function of numbers accepts 1 to 4 of one type, float32, "
                  "float64 or an integer's, and returns one");
  return NULL;
}

/* add_pointer(ufunc, types, address, user, kind, flags, owner): kind is "numpy", "status",
 * "error", "scalar", or "skip" for a scalar function of Cython with an additional int parameter. */
static PyObject *add_pointer(PyObject *self, PyObject *args) {
  (void)self;
  PyObject *ufunc = NULL, *types = NULL, *owner = NULL;
  unsigned long long address = 0, user = 0;
  const char *kind = NULL;
  unsigned int flags = 0;
  void *handle = NULL;
  if (!PyArg_ParseTuple(args, "OOKKsIO:add_pointer", &ufunc, &types, &address, &user, &kind, &flags,
                        &owner) ||
      gufpy_get_handle(ufunc, GUFPY_UFUNC, &handle) != 0) {
    return NULL;
  }
  int64_t codes[GUF_MAX_OPERANDS];
  guf_dtype dtypes[GUF_MAX_OPERANDS];
  const int count = gufpy_integers(types, codes, GUF_MAX_OPERANDS, "types");
  if (count < 0) return NULL;
  for (int i = 0; i < count; ++i) dtypes[i] = (guf_dtype)codes[i];
  guf_loop_desc desc = {.struct_size = sizeof desc, .kind = GUF_LOOP_NUMPY, .flags = flags};
  desc.ntypes = count;
  desc.types = dtypes;
  if (strcmp(kind, "numpy") == 0) {
    desc.numpy = numpy_loop;
  } else if (strcmp(kind, "status") == 0) {
    desc.kind = GUF_LOOP_STATUS;
    desc.status = status_loop;
  } else if (strcmp(kind, "error") == 0) {
    desc.kind = GUF_LOOP_ERROR;
    desc.error = error_loop;
  } else {
    desc.numpy = scalar_loop(dtypes, count, strcmp(kind, "skip") == 0);
    if (desc.numpy == NULL) return NULL;
  }
  owned_pointer *pointer = PyMem_RawMalloc(sizeof *pointer);
  if (pointer == NULL) return PyErr_NoMemory();
  pointer->function = (void *)(uintptr_t)address;
  pointer->user = (void *)(uintptr_t)user;
  pointer->owner = Py_NewRef(owner);
  desc.user = pointer;
  desc.destroy = drop_pointer;
  guf_error *error = gufpy_error();
  const guf_status status = guf_ufunc_add_loop(handle, &desc, error);
  if (status == GUF_OK) Py_RETURN_NONE;
  drop_pointer(pointer);
  return gufpy_raise(status, error);
}

/* capsule_pointer(capsule): (address, name) */
static PyObject *capsule_pointer(PyObject *self, PyObject *capsule) {
  (void)self;
  const char *name = PyCapsule_GetName(capsule);
  if (name == NULL && PyErr_Occurred()) return NULL;
  void *address = PyCapsule_GetPointer(capsule, name);
  if (address == NULL) return NULL;
  return Py_BuildValue("Kz", (unsigned long long)(uintptr_t)address, name);
}

PyMethodDef gufpy_pointer_functions[] = {{"add_pointer", add_pointer, METH_VARARGS, NULL},
                                         {"capsule_pointer", capsule_pointer, METH_O, NULL},
                                         {0}};
