// SPDX-License-Identifier: Apache-2.0
// Determines which code objects an AMD device can run.
#ifndef GUFUNC_BACKENDS_ROC_ROC_TARGET_H
#define GUFUNC_BACKENDS_ROC_ROC_TARGET_H

#include <cstdint>

namespace gufunc::roc {

// The version number of the first HIP release that loads code for generic targets.
inline constexpr int kGenericSince = 60400000;

// Returns the score of a code object; 0 means that the device cannot run it.
// "gfx942" runs on "gfx942:sramecc+:xnack-". A feature that the image's target names must
// have the same setting on the device. "gfx11-generic" runs on all devices of its family,
// with a lower score than any image for exactly this processor.
int32_t score_code_object(const char *device_target, int32_t format, const char *image_target,
                          int runtime_version);

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_ROC_TARGET_H
