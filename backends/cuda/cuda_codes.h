// SPDX-License-Identifier: Apache-2.0
// What the codes of NVIDIA's driver mean.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_CODES_H
#define GUFUNC_BACKENDS_CUDA_CUDA_CODES_H

#include <span>

#include "backends/gpu/driver.h"

namespace gufunc::cuda {

// Every code of CUDA 13, ascending.
std::span<const gpu::ErrorInfo> known_codes();

// Of any code; those of later drivers fail whatever was called, and nothing else.
const gpu::ErrorInfo &error_info(gpu::Code code);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_CODES_H
