/* SPDX-License-Identifier: Apache-2.0
 * Entry of the library's callbacks into Python: with the GIL, with enough stack, and not while the
 * interpreter is finalized. */
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

int gufpy_entry_begin(gufpy_entry *visit) {
  if (gufpy_is_ending() && (!Py_IsInitialized() || !PyGILState_Check())) return 0;
  visit->inside = 1;
  visit->state = PyGILState_Ensure();
  return 1;
}

void gufpy_entry_end(gufpy_entry *visit) {
  PyGILState_Release(visit->state);
  visit->inside = 0;
}

void gufpy_entry_block(gufpy_entry *visit) {
  if (!visit->inside || !gufpy_is_ending()) return;
  for (;;) pause();
}

/* The stack size in bytes that a callback leaves for the library and the interpreter, which do not
 * check again until the next callback; at most half of the stack. */
enum { STACK_LEFT = 512 << 10 };

int gufpy_has_stack(void) {
  static _Thread_local uintptr_t start, least; /* `start` is 0 until it is queried */
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
  /* Outside these bounds, the thread runs on a stack that the program allocated (a coroutine),
   * whose size is unknown. */
  if (here < start || here >= least) return 1;
  PyErr_SetString(PyExc_RecursionError,
                  "maximum recursion depth exceeded: the end of the stack is near");
  return 0;
}
