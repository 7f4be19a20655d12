// SPDX-License-Identifier: Apache-2.0
// Adds the renaming macros of HIP 6 and 7 to HIP's header, for hip_api_check.cc. With these macros,
// the included header declares the names that ROCm 6 declares.
#ifndef GUFUNC_TESTS_GPU_HIP_RENAMED_H
#define GUFUNC_TESTS_GPU_HIP_RENAMED_H

#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipDeviceProp_t hipDeviceProp_tR0600
#define hipChooseDevice hipChooseDeviceR0600
#include_next <hip/hip_runtime_api.h>

#endif  // GUFUNC_TESTS_GPU_HIP_RENAMED_H
