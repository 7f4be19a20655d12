// SPDX-License-Identifier: Apache-2.0
// Text fragments shared by the entries for the host and for devices.
#ifndef GUFUNC_TOOLS_GUFCC_ENTRY_TEXT_H
#define GUFUNC_TOOLS_GUFCC_ENTRY_TEXT_H

#include <string>
#include <vector>

#include "registration.h"

namespace gufunc::gufcc {

// File name in the line markers of entries.
inline constexpr char kEntriesFile[] = "entries of gufcc";
// Prefix of the structs that wrap the user's functions; a number follows.
inline constexpr char kCalleeName[] = "guf_callee_";

std::string quoted(const std::string &text);

// Returns "float &" for "float" and for "float &".
std::string as_reference(const std::string &type);

// Returns the C++ types of type letters, such as "guf::f32, guf::f32".
std::string type_list(const std::string &letters);

// Returns one text such as "guf::host::operand<guf::f32, guf::role::in, 0, 1>" per operand. `space`
// is the namespace in this text, host or device.
std::vector<std::string> operand_types(const Function &function, const Loop &loop,
                                       const char *space);
std::string operand_list(const Function &function, const Loop &loop, const char *space);

// A struct `name` whose call() calls the user's function, with the line number of the registration.
std::string callee_struct(const Loop &loop, const std::string &name);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_ENTRY_TEXT_H
