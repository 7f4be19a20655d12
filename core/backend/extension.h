// SPDX-License-Identifier: Apache-2.0
// Optional function tables of a backend, in addition to its main table (gufunc/backend.h).
#ifndef GUFUNC_CORE_BACKEND_EXTENSION_H
#define GUFUNC_CORE_BACKEND_EXTENSION_H

#include <gufunc/backend_gpu.h>
#include <gufunc/backend_kernels.h>

#include "core/backend/backend.h"

namespace gufunc::backend {

// Returns the plugin's extension table for GPUs. A repeated call costs one atomic load. `what`
// names the feature in the error message, such as "graphs".
// Errors  GUF_E_UNSUPPORTED <= the backend has no such extension
guf_status gpu_extension(Device &device, const char *what, const guf_gpu_api **out,
                         guf_error *error);

// Returns the extension of the device's backend for raw kernels. A repeated call costs one atomic
// load.
// Errors  GUF_E_UNSUPPORTED <= the backend has no such extension
guf_status kernels_extension(Device &device, const guf_kernels_api **out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_EXTENSION_H
