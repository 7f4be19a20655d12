// SPDX-License-Identifier: Apache-2.0
// What HIP's codes mean.
#ifndef GUFUNC_BACKENDS_ROC_HIP_CODES_H
#define GUFUNC_BACKENDS_ROC_HIP_CODES_H

#include <span>

#include "backends/gpu/driver.h"

namespace gufunc::roc {

// Those of HIP 5.2 to 7, in the order of their numbers.
std::span<const gpu::ErrorInfo> hip_codes();

// Of any number: what later releases may add fails the call that returned it.
const gpu::ErrorInfo &hip_error_info(gpu::Code code);

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_CODES_H
