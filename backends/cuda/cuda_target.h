// SPDX-License-Identifier: Apache-2.0
// Which images an NVIDIA device runs.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
#define GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H

#include <cstdint>

namespace gufunc::cuda {

// Machine code ("sm_86") runs on its own generation from its own minor on; that of an "a" target
// on exactly its own. PTX ("ptx_75", "compute_75") runs on everything later, and costs a
// compilation: it comes last.
int32_t score_target(const char *device_target, int32_t format, const char *image_target);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
