// SPDX-License-Identifier: Apache-2.0
// Determines which images an NVIDIA device can run.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
#define GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H

#include <cstdint>

namespace gufunc::cuda {

// Returns the score of an image; 0 means that the device cannot run it. Machine code
// ("sm_86") runs on devices with the same major and the same or a higher minor version.
// PTX ("ptx_75", "compute_75") runs on devices of the same or a later version, but must be compiled
// first, so PTX has the lowest scores. Images of an "a" target run only on devices of exactly this
// version, and images of an "f" target only on devices of the same major version.
int32_t score_target(const char *device_target, int32_t format, const char *image_target);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
