// SPDX-License-Identifier: Apache-2.0
// The interface to NVIDIA's driver: the part of the GPU plugin that is specific to CUDA.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_DRIVER_H
#define GUFUNC_BACKENDS_CUDA_CUDA_DRIVER_H

#include "backends/gpu/runtime/driver.h"

namespace gufunc::cuda {

const gpu::Vendor &vendor();

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_DRIVER_H
