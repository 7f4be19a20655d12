// SPDX-License-Identifier: Apache-2.0
// What --list prints.
#ifndef GUFUNC_TOOLS_GUFCC_LISTING_H
#define GUFUNC_TOOLS_GUFCC_LISTING_H

#include <string>

#include "registration.h"

namespace gufunc::gufcc {

// One line per function: name, signature, types, what else was said; columns as wide as needed.
std::string list_functions(const Module &module);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_LISTING_H
