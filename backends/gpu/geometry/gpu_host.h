// SPDX-License-Identifier: Apache-2.0
// Makes the names of the backend SDK visible in the GPU plugins.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_GPU_HOST_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_GPU_HOST_H

#include <gufunc/backend/host.hpp>

namespace gufunc::gpu {
using namespace sdk;

// Drivers use the same code for missing host memory and missing device memory. This function is for
// calls that need host memory.
inline guf_status as_host_memory(guf_status status, guf_error *error) {
  if (__builtin_expect(status != GUF_E_DEVICE_MEMORY, 1)) return status;
  if (error != nullptr) error->status = GUF_E_NO_MEMORY;
  return GUF_E_NO_MEMORY;
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_GPU_HOST_H
