// SPDX-License-Identifier: Apache-2.0
// Finds the registrations in a source that was preprocessed with -DGUF_SCAN.
#ifndef GUFUNC_TOOLS_GUFCC_SCANNER_H
#define GUFUNC_TOOLS_GUFCC_SCANNER_H

#include <string_view>
#include <vector>

#include "registration.h"

namespace gufunc::gufcc {

// Appends the registrations to `*out`. `source` is the index on the command line. Returns false if
// a registration is malformed, or if a file of the user includes a refused header or contains a
// refused name, such as `new`, `asm` or `long double`.
bool scan_registrations(std::string_view preprocessed, int source,
                        std::vector<RawRegistration> *out, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_SCANNER_H
