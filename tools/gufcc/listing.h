// SPDX-License-Identifier: Apache-2.0
// The output of --list.
#ifndef GUFUNC_TOOLS_GUFCC_LISTING_H
#define GUFUNC_TOOLS_GUFCC_LISTING_H

#include <string>

#include "registration.h"

namespace gufunc::gufcc {

// One line per function: name, signature, types and remarks, in aligned columns.
std::string list_functions(const Module &module);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_LISTING_H
