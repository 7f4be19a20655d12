// SPDX-License-Identifier: Apache-2.0
// The classification of the error codes of NVIDIA's driver.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_CODES_H
#define GUFUNC_BACKENDS_CUDA_CUDA_CODES_H

#include <span>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::cuda {

// Returns all codes of CUDA 13 in ascending order.
std::span<const gpu::ErrorInfo> known_codes();

// Returns the classification of any code. An unknown code of a later
// driver only means that the call failed.
const gpu::ErrorInfo &error_info(gpu::Code code);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_CODES_H
