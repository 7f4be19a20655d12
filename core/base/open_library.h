// SPDX-License-Identifier: Apache-2.0
// Calls dlopen for a file that was opened and checked before, and dlclose.
#ifndef GUFUNC_CORE_BASE_OPEN_LIBRARY_H
#define GUFUNC_CORE_BASE_OPEN_LIBRARY_H

#include "core/base/error.h"

namespace gufunc::base {

// Loads the library behind `descriptor` with RTLD_NOW, RTLD_LOCAL and `flags` (RTLD_NODELETE).
// Runs its constructors and restores the thread's floating-point control afterwards. `path` is
// used in messages only. The caller may close the descriptor after the call. A fork() in
// another thread waits until the call returns.
// Errors  GUF_E_BAD_FILE <= the dynamic loader rejects the file; the message contains its reason
//         GUF_E_NO_MEMORY <= the dynamic loader is out of memory
//         GUF_E_IO <= no file descriptor is available
guf_status open_library(int descriptor, int flags, const char *path, void **out, guf_error *error);

// Calls dlclose. A fork() in another thread waits until the call returns.
void close_library(void *library);

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_OPEN_LIBRARY_H
