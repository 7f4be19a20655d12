// SPDX-License-Identifier: Apache-2.0
// The CUDA-specific part of the GPU plugin.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_VENDOR_H
#define GUFUNC_BACKENDS_CUDA_CUDA_VENDOR_H

#include "backends/gpu/runtime/driver.h"

namespace gufunc::cuda {

const gpu::Vendor &vendor();

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_VENDOR_H
