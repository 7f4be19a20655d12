// SPDX-License-Identifier: Apache-2.0
// What the process trusts: its privileges, and the owner of the library's file.
#ifndef GUFUNC_CORE_BASE_PROCESS_TRUST_H
#define GUFUNC_CORE_BASE_PROCESS_TRUST_H

#include <string>

#include "core/base/file_trust.h"

namespace gufunc::base {

// Returns the path of libgufunc's file, or of the program if it is linked statically. The path
// comes from the kernel, because the dynamic loader knows a program only by argv[0], which the
// caller chooses, and may know a library by a relative path. Throws std::bad_alloc.
std::string library_file();

// Returns a text to append to messages about missing plugins if /proc cannot be read. The library
// finds its own file and opens plugins through /proc. Empty if /proc is readable.
std::string missing_proc();

// Returns the rule for the effective user and group, and the owner and group of libgufunc's file.
TrustRule process_trust();

// Returns whether the kernel marked the process as privileged: setuid, setgid, file capabilities.
bool process_is_privileged();

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_PROCESS_TRUST_H
