// SPDX-License-Identifier: Apache-2.0
// Registrations with the same name form one function and share its options.
#ifndef GUFUNC_TOOLS_GUFCC_MERGED_OPTIONS_H
#define GUFUNC_TOOLS_GUFCC_MERGED_OPTIONS_H

#include "registration.h"

namespace gufunc::gufcc {

// Refuses a registration `added` whose options differ from `known`. Each registration may leave out
// doc and failure.
bool merge_options(Function *known, const Function &added, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_MERGED_OPTIONS_H
