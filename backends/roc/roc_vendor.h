// SPDX-License-Identifier: Apache-2.0
// The part of the GPU plugin that is specific to ROCm.
#ifndef GUFUNC_BACKENDS_ROC_ROC_VENDOR_H
#define GUFUNC_BACKENDS_ROC_ROC_VENDOR_H

#include "backends/gpu/runtime/driver.h"

namespace gufunc::roc {

const gpu::Vendor &roc_vendor();

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_ROC_VENDOR_H
