// SPDX-License-Identifier: Apache-2.0
// Builtin functions and attributes of compilers that a kernel must not contain, because they are
// not available for every target.
#ifndef GUFUNC_TOOLS_GUFCC_BUILTINS_H
#define GUFUNC_TOOLS_GUFCC_BUILTINS_H

#include <string>
#include <string_view>

namespace gufunc::gufcc {

// Returns what to use instead of a builtin function. Returns "" for an allowed builtin function,
// and for a name that is not a builtin function.
std::string why_builtin_refused(std::string_view name);

// Returns what to do instead of using an attribute; "" if it is allowed.
std::string why_attribute_refused(std::string_view name);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_BUILTINS_H
