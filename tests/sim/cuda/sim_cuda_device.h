// SPDX-License-Identifier: Apache-2.0
// Defines the properties of the simulated NVIDIA device for its architecture.
#ifndef GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_DEVICE_H
#define GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_DEVICE_H

#include <cstdint>

#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_image.h"

namespace sim::cuda {

// Returns the number of the device's architecture, such as 90 for "sm_90". Returns 90 for an
// invalid name.
int arch_of(const Driver &driver);

CudaTarget target_of(const Driver &driver);

// Returns the largest shared memory per block that a kernel can use after the program has set a
// function attribute.
uint32_t optin_shared(int arch);
inline constexpr uint32_t kDefaultShared = 48 << 10;

// Stores the value of a device attribute. Returns false if the attribute does not exist.
bool device_attribute(const Driver &driver, int device, int attribute, int *out);

}  // namespace sim::cuda

#endif  // GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_DEVICE_H
