// SPDX-License-Identifier: Apache-2.0
// What backends for GPUs have beside the table of backend.h.
#ifndef GUFUNC_CORE_BACKEND_GPU_EXTENSION_H
#define GUFUNC_CORE_BACKEND_GPU_EXTENSION_H

#include <gufunc/backend_gpu.h>

#include "core/backend/backend.h"

namespace gufunc::backend {

// The plugin's table; one load when it was asked for before. `what`: what is wanted of it, for the
// message ("graphs").
// Errors  GUF_E_UNSUPPORTED <= the backend has no such extension
guf_status gpu_extension(Device &device, const char *what, const guf_gpu_api **out,
                         guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_GPU_EXTENSION_H
