/* SPDX-License-Identifier: Apache-2.0
 * How the library's callbacks get into Python: with the GIL, on enough stack, and not once the
 * interpreter ends. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_getattr_np */
#endif
#include <pthread.h>
#include <unistd.h>

#include "pygufunc.h"

int gufpy_is_ending(void) {
#if PY_VERSION_HEX >= 0x030d0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

int gufpy_visit_begin(gufpy_visit *visit) {
  if (gufpy_is_ending() && (!Py_IsInitialized() || !PyGILState_Check())) return 0;
  visit->inside = 1;
  visit->state = PyGILState_Ensure();
  return 1;
}

void gufpy_visit_end(gufpy_visit *visit) {
  PyGILState_Release(visit->state);
  visit->inside = 0;
}

void gufpy_visit_stay(gufpy_visit *visit) {
  if (!visit->inside || !gufpy_is_ending()) return;
  for (;;) pause();
}

/* What is left for the library and the interpreter, which look no more until the next callback; of
 * a small stack a half. */
enum { STACK_LEFT = 512 << 10 };

int gufpy_has_stack(void) {
  static _Thread_local uintptr_t start, least; /* `start` 0: not asked yet */
  if (start == 0) {
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    start = least = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0 && lowest != NULL) {
      start = (uintptr_t)lowest;
      least = start + (size / 2 < STACK_LEFT ? size / 2 : STACK_LEFT);
    }
    (void)pthread_attr_destroy(&attributes);
  }
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  /* Elsewhere the thread runs on a stack that it made, of a size that nobody told. */
  if (here < start || here >= least) return 1;
  PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the stack ends");
  return 0;
}
