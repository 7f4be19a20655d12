// SPDX-License-Identifier: Apache-2.0
// Determines which images an NVIDIA device can run.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
#define GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H

#include <cstdint>

namespace gufunc::cuda {

// Returns the score of an image; 0 means that the device cannot run it. Machine code
// ("sm_86") runs on devices with the same major and the same or a higher minor version.
// Machine code of an "a" target runs only on exactly its device. PTX ("ptx_75", "compute_75") runs
// on every later device, but must be compiled first, so it has the lowest scores.
int32_t score_target(const char *device_target, int32_t format, const char *image_target);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
