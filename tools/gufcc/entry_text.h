// SPDX-License-Identifier: Apache-2.0
// Pieces that entries for the host and for devices are put together from.
#ifndef GUFUNC_TOOLS_GUFCC_ENTRY_TEXT_H
#define GUFUNC_TOOLS_GUFCC_ENTRY_TEXT_H

#include <string>
#include <vector>

#include "registration.h"

namespace gufunc::gufcc {

// The file that entries claim to be in.
inline constexpr char kEntriesFile[] = "entries of gufcc";
// What the structs around the user's functions are called, before their number.
inline constexpr char kCalleeName[] = "guf_callee_";

std::string quoted(const std::string &text);

// "float &" of "float" and of "float &"
std::string as_reference(const std::string &type);

// "guf::f32, guf::f32"
std::string type_list(const std::string &letters);

// "guf::host::operand<guf::f32, guf::role::in, 0, 1>" per operand; space: host or device
std::vector<std::string> operand_types(const Function &function, const Loop &loop,
                                       const char *space);
std::string operand_list(const Function &function, const Loop &loop, const char *space);

// A struct `name` whose call() is the user's function, on a line that claims to be the
// registration's.
std::string callee_struct(const Loop &loop, const std::string &name);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_ENTRY_TEXT_H
