/* SPDX-License-Identifier: Apache-2.0
 * Lets the library's callbacks enter Python, which requires the GIL and enough stack. They must not
 * enter Python while the interpreter is being finalized. */
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

int gufpy_entry_begin(gufpy_entry *entry) {
  if (gufpy_is_ending() && (!Py_IsInitialized() || !PyGILState_Check())) return 0;
  entry->inside = 1;
  entry->state = PyGILState_Ensure();
  return 1;
}

void gufpy_entry_end(gufpy_entry *entry) {
  PyGILState_Release(entry->state);
  entry->inside = 0;
}

void gufpy_entry_block(gufpy_entry *entry) {
  if (!entry->inside || !gufpy_is_ending()) return;
  for (;;) pause();
}

/* The number of bytes that must be free on the stack when a callback starts, but at most half of
 * the stack. The library and the interpreter use this space without another check until the next
 * callback. */
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
  /* An address below `start` means that the thread runs on a stack that the program allocated (a
   * coroutine), whose size is unknown. An address of at least `least` means that enough stack is
   * left. */
  if (here < start || here >= least) return 1;
  PyErr_SetString(PyExc_RecursionError,
                  "maximum recursion depth exceeded: the end of the stack is near");
  return 0;
}
