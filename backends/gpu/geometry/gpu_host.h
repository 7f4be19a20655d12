// SPDX-License-Identifier: Apache-2.0
// Imports the names of the backend SDK into the namespace of the GPU plugins.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_GPU_HOST_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_GPU_HOST_H

#include <gufunc/backend/host.hpp>

namespace gufunc::gpu {
using namespace sdk;

// Changes a status for missing device memory to one for missing host memory.
// Drivers report both cases by the same code, so calls that allocate host memory use this function.
inline guf_status as_host_memory(guf_status status, guf_error *error) {
  if (__builtin_expect(status != GUF_E_DEVICE_MEMORY, 1)) return status;
  if (error != nullptr) error->status = GUF_E_NO_MEMORY;
  return GUF_E_NO_MEMORY;
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_GPU_HOST_H
