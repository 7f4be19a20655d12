// SPDX-License-Identifier: Apache-2.0
// Opens NVIDIA's driver.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_LIBRARY_H
#define GUFUNC_BACKENDS_CUDA_CUDA_LIBRARY_H

#include <gufunc/status.h>

#include "backends/cuda/cuda_api.h"

namespace gufunc::cuda {

// Opens libcuda.so.1 and finds its functions.
// Errors  GUF_E_NO_DRIVER <= there is no such library
//         GUF_E_DRIVER_OLD <= it lacks a required function
guf_status open_library(Api *out_api, guf_error *error);

// Whether the driver has all functions of memory pools.
bool has_pools(const Api &api);

// Whether the driver has all functions of libraries, which are images without a context.
bool has_libraries(const Api &api);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_LIBRARY_H
