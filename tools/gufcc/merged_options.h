// SPDX-License-Identifier: Apache-2.0
// Registrations under one name make one function: its options are everybody's.
#ifndef GUFUNC_TOOLS_GUFCC_MERGED_OPTIONS_H
#define GUFUNC_TOOLS_GUFCC_MERGED_OPTIONS_H

#include "registration.h"

namespace gufunc::gufcc {

// Refuses what `added`, another registration, says differently. doc and failure may be left out.
bool merge_options(Function *known, const Function &added, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_MERGED_OPTIONS_H
