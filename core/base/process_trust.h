// SPDX-License-Identifier: Apache-2.0
// The privileges of the process, and the owners and groups of files that it trusts.
#ifndef GUFUNC_CORE_BASE_PROCESS_TRUST_H
#define GUFUNC_CORE_BASE_PROCESS_TRUST_H

#include <string>

#include "core/base/file_trust.h"

namespace gufunc::base {

// Finds the path of libgufunc's file, or of the program if the library is linked statically. The
// path is read from /proc/self/maps, because the dynamic loader records a program only by argv[0],
// which the caller chooses, and may record a library by a relative path. `*out` is empty if /proc
// cannot be read.
// Errors  GUF_E_IO <= no file descriptor is available;  GUF_E_NO_MEMORY
guf_status library_file(std::string *out, guf_error *error);

// Returns a text for messages about missing plugins, which explains that /proc cannot be read. The
// library needs /proc to find its own file and to open plugins. The text is empty if /proc is
// readable.
std::string missing_proc();

// Determines the trust rule of this process, which contains the effective user and group, and the
// owner and group of libgufunc's file.
// Errors  as library_file
guf_status process_trust(TrustRule *out, guf_error *error);

// Returns whether the kernel marked the process as privileged (setuid, setgid, file capabilities).
bool process_is_privileged();

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_PROCESS_TRUST_H
