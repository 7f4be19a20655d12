// SPDX-License-Identifier: Apache-2.0
// What the simulated NVIDIA device is able to do, by its architecture.
#ifndef GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_DEVICE_H
#define GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_DEVICE_H

#include <cstdint>

#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_image.h"

namespace sim::cuda {

// "sm_90" as 90; 90 for what is not of that form.
int arch_of(const Driver &driver);

CudaTarget target_of(const Driver &driver);

// Shared memory of a block that has to be asked for with an attribute of the function.
uint32_t optin_shared(int arch);
inline constexpr uint32_t kDefaultShared = 48 << 10;

// False: no such attribute.
bool device_attribute(const Driver &driver, int device, int attribute, int *out);

}  // namespace sim::cuda

#endif  // GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_DEVICE_H
