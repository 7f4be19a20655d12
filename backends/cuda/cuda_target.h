// SPDX-License-Identifier: Apache-2.0
// Determines which images an NVIDIA device can run.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
#define GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H

#include <cstdint>

namespace gufunc::cuda {

// Machine code ("sm_86") runs on devices of the same generation with the same or a higher minor
// number; the code of an "a" target runs only on exactly that device. PTX ("ptx_75", "compute_75")
// runs on every later device, but must be compiled, so it has the lowest score.
int32_t score_target(const char *device_target, int32_t format, const char *image_target);

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_TARGET_H
