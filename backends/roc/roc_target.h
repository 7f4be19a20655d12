// SPDX-License-Identifier: Apache-2.0
// Determines which code objects an AMD device can run.
#ifndef GUFUNC_BACKENDS_ROC_ROC_TARGET_H
#define GUFUNC_BACKENDS_ROC_ROC_TARGET_H

#include <cstdint>

namespace gufunc::roc {

// The version number of the first HIP release that loads code for generic targets.
inline constexpr int kGenericSince = 60400000;

// "gfx942" runs on "gfx942:sramecc+:xnack-"; a feature that the image names must have the same
// setting on the device. "gfx11-generic" runs on the devices of its family, with a lower score than
// any image for the exact device.
int32_t score_code_object(const char *device_target, int32_t format, const char *image_target,
                          int runtime_version);

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_ROC_TARGET_H
