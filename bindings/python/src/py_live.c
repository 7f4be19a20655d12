/* SPDX-License-Identifier: Apache-2.0
 * The live Ufunc objects. A ufunc has at most one Python object. Finding it again returns the same
 * object, and the properties that the object caches are never stale. */
#include "pygufunc.h"

/* handle -> weak reference */
static PyObject *live_ufuncs;

PyObject *gufpy_find_ufunc(void *handle) {
  PyObject *key = live_ufuncs == NULL ? NULL : PyLong_FromVoidPtr(handle);
  PyObject *reference = key == NULL ? NULL : PyDict_GetItem(live_ufuncs, key);
  Py_XDECREF(key);
  if (reference == NULL) return NULL;
  PyObject *found = PyWeakref_GetObject(reference);
  return found == Py_None ? NULL : Py_XNewRef(found);
}

int gufpy_add_ufunc(gufpy_handle *object) {
  if (live_ufuncs == NULL) live_ufuncs = PyDict_New();
  PyObject *key = live_ufuncs == NULL ? NULL : PyLong_FromVoidPtr(object->handle);
  PyObject *reference = key == NULL ? NULL : PyWeakref_NewRef((PyObject *)object, NULL);
  const int added = reference != NULL && PyDict_SetItem(live_ufuncs, key, reference) == 0;
  Py_XDECREF(reference);
  Py_XDECREF(key);
  return added ? 0 : -1;
}

void gufpy_remove_ufunc(void *handle) {
  PyObject *type = NULL, *value = NULL, *trace = NULL;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *key = PyLong_FromVoidPtr(handle);
  if (key != NULL && live_ufuncs != NULL) (void)PyDict_DelItem(live_ufuncs, key);
  Py_XDECREF(key);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}
