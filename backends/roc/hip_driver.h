// SPDX-License-Identifier: Apache-2.0
// The interface to AMD's HIP runtime: the part of the GPU plugin that is specific to ROCm.
#ifndef GUFUNC_BACKENDS_ROC_HIP_DRIVER_H
#define GUFUNC_BACKENDS_ROC_HIP_DRIVER_H

#include "backends/gpu/runtime/driver.h"

namespace gufunc::roc {

const gpu::Vendor &roc_vendor();

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_DRIVER_H
