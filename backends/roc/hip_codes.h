// SPDX-License-Identifier: Apache-2.0
// The classification of HIP's error codes.
#ifndef GUFUNC_BACKENDS_ROC_HIP_CODES_H
#define GUFUNC_BACKENDS_ROC_HIP_CODES_H

#include <span>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::roc {

// Returns the codes of HIP 5.2 to 7 in ascending order.
std::span<const gpu::ErrorInfo> hip_codes();

// Returns the classification of any code. An unknown code of a later
// release only means that the call failed.
const gpu::ErrorInfo &hip_error_info(gpu::Code code);

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_CODES_H
