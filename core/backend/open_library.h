// SPDX-License-Identifier: Apache-2.0
// dlopen of a file that was opened and checked before.
#ifndef GUFUNC_CORE_BACKEND_OPEN_LIBRARY_H
#define GUFUNC_CORE_BACKEND_OPEN_LIBRARY_H

#include "core/base/error.h"

namespace gufunc::backend {

// Maps the file behind `descriptor`, NOW and LOCAL, plus `flags` (RTLD_NODELETE). Runs its
// constructors; the thread's floating-point control stays as it was. `path` is for messages only.
// The descriptor may be closed afterwards. A fork() of another thread waits meanwhile.
// Errors  GUF_E_BAD_FILE <= the dynamic loader refuses the file; its reason is in the message
//         GUF_E_NO_MEMORY <= it has no memory for it
guf_status open_library(int descriptor, int flags, const char *path, void **out, guf_error *error);

// dlclose; a fork() of another thread waits meanwhile.
void close_library(void *library);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_OPEN_LIBRARY_H
