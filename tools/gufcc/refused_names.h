// SPDX-License-Identifier: Apache-2.0
// What to use in a kernel instead of the names of the C and C++ libraries, of CUDA and of HIP.
#ifndef GUFUNC_TOOLS_GUFCC_REFUSED_NAMES_H
#define GUFUNC_TOOLS_GUFCC_REFUSED_NAMES_H

#include <string>

namespace gufunc::gufcc {

bool is_printing(const std::string &function);

// Whether the host's libraries define a function for which advice_for_function has advice.
bool is_library_function(const std::string &name);

// Returns what to use instead of a function that only the host has.
std::string advice_for_function(const std::string &name);

// Returns what to use instead of the name of a function, macro, type or variable of a library. The
// name has no namespace. Returns "" for an unknown name.
std::string advice_for_name(const std::string &name);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REFUSED_NAMES_H
