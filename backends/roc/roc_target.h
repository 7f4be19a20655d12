// SPDX-License-Identifier: Apache-2.0
// Which code objects an AMD device runs.
#ifndef GUFUNC_BACKENDS_ROC_ROC_TARGET_H
#define GUFUNC_BACKENDS_ROC_ROC_TARGET_H

#include <cstdint>

namespace gufunc::roc {

// HIP's own number for the release that first loads code for generic targets.
inline constexpr int kGenericSince = 60400000;

// "gfx942" runs on "gfx942:sramecc+:xnack-"; a feature that the image names must be set alike.
// "gfx11-generic" runs on its members, behind every image of their own.
int32_t score_code_object(const char *device_target, int32_t format, const char *image_target,
                          int runtime_version);

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_ROC_TARGET_H
