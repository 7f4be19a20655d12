// SPDX-License-Identifier: Apache-2.0
// Opens the library of AMD's HIP runtime.
#ifndef GUFUNC_BACKENDS_ROC_HIP_LIBRARY_H
#define GUFUNC_BACKENDS_ROC_HIP_LIBRARY_H

#include <gufunc/status.h>

#include "backends/roc/hip_api.h"

namespace gufunc::roc {

// Opens libamdhip64 of HIP 7, 6 or 5: the version that the process
// has loaded, or else the latest one.
// Errors  GUF_E_NO_DRIVER <= no version can be opened;
//         GUF_E_DRIVER_OLD <= a required function is missing
guf_status open_hip(Hip *out_hip, guf_error *error);

bool has_pools(const Hip &hip);
bool has_graphs(const Hip &hip);

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_LIBRARY_H
