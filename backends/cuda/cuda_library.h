// SPDX-License-Identifier: Apache-2.0
// Opens the library of NVIDIA's driver.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_LIBRARY_H
#define GUFUNC_BACKENDS_CUDA_CUDA_LIBRARY_H

#include <gufunc/status.h>

#include "backends/cuda/cuda_api.h"

namespace gufunc::cuda {

// Opens libcuda.so.1 and looks up its functions.
// Errors  GUF_E_NO_DRIVER <= there is no such library
//         GUF_E_DRIVER_OLD <= the library lacks a required function
guf_status open_library(Api *out_api, guf_error *error);

// Returns whether the driver has all functions that memory pools require.
bool has_pools(const Api &api);

// Returns whether the driver has all functions that libraries require.
// Libraries are images that belong to no context.
bool has_libraries(const Api &api);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_LIBRARY_H
