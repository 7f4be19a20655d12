// SPDX-License-Identifier: Apache-2.0
// The part of the GPU plugin that is specific to CUDA.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_VENDOR_H
#define GUFUNC_BACKENDS_CUDA_CUDA_VENDOR_H

#include "backends/gpu/runtime/driver.h"

namespace gufunc::cuda {

const gpu::Vendor &vendor();

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_VENDOR_H
