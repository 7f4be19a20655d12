/* SPDX-License-Identifier: Apache-2.0
 * In a program that is built with the tag gufunc_dlopen, this file opens the library when the
 * program first calls one of the library's functions. The library is never closed. */
#include <stdio.h>

#include "block.h"

#ifdef GUFUNC_DLOPEN
#include <dlfcn.h>
#include <pthread.h>

static const char kDefault[] = "libgufunc.so.0.1", kVariable[] = "GUFUNC_LIBRARY";

const zcall_library *zcall_opened = NULL;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static zcall_library found;
static char reason[sizeof((guf_error *)0)->message]; /* why opening failed, or "" */

static const char *find_functions(void *library) {
  const char *missing = NULL;
#define FIND(name)                               \
  *(void **)&found.name = dlsym(library, #name); \
  if (found.name == NULL && missing == NULL) missing = #name;
  ZCALL_FUNCTIONS(FIND)
#undef FIND
  return missing;
}

static void open_once(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(reason, sizeof reason,
             "libgufunc cannot be opened: %s (%s or gufunc.Open selects the file)", dlerror(),
             kVariable);
    return;
  }
  const char *missing = find_functions(library);
  if (missing == NULL) {
    __atomic_store_n(&zcall_opened, &found, __ATOMIC_RELEASE);
    return;
  }
  snprintf(reason, sizeof reason, "%s: no function '%s'; expected libgufunc 0.1 or later", path,
           missing);
  dlclose(library);
}

/* Opens the library, unless an earlier call opened it or failed. If `path` is NULL, uses the
 * environment variable or the default name. */
static void open_at(const char *path) {
  pthread_mutex_lock(&opening);
  if (zcall_opened == NULL && reason[0] == '\0') {
    if (path == NULL) path = getenv(kVariable);
    open_once(path == NULL || path[0] == '\0' ? kDefault : path);
  }
  pthread_mutex_unlock(&opening);
}

int zcall_open(void) {
  open_at(NULL);
  return zcall_opened != NULL;
}

guf_error *zcall_missing(void) {
  guf_error error = {.struct_size = sizeof error, .argument = -1, .axis = -1};
  memcpy(error.message, reason, sizeof reason);
  return zcall_failed(GUF_E_IO, &error);
}

guf_error *gufgo_open(const char *path) {
  open_at(path);
  return zcall_opened != NULL ? NULL : zcall_missing();
}
#else
guf_error *gufgo_open(const char *path) {
  if (path == NULL) return NULL;
  guf_error error = {.struct_size = sizeof error, .argument = -1, .axis = -1};
  snprintf(
      error.message, sizeof error.message,
      "the program is linked with libgufunc: only with the build tag gufunc_dlopen can it open "
      "another one");
  return zcall_failed(GUF_E_UNSUPPORTED, &error);
}
#endif
