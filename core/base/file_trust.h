// SPDX-License-Identifier: Apache-2.0
// Decides from which files this process may load code. The decision depends on the privileges of
// the process and on the owners and groups that the process trusts.
#ifndef GUFUNC_CORE_BASE_FILE_TRUST_H
#define GUFUNC_CORE_BASE_FILE_TRUST_H

#include <string>

#include "core/base/checked_file.h"

namespace gufunc::base {

// The owners and groups that a process trusts. Trusted owners are root, the effective user and the
// owner of the library's own file. Group write permission is acceptable only in a process without
// privileges, and only for root's group, the effective group and the library's group.
struct TrustRule {
  uid_t effective_user = 0;
  uid_t library_owner = 0;
  bool privileged = true;
  gid_t effective_group = 0;
  gid_t library_group = 0;
};

// Checks the owner and the write permissions of the open file, of its directory and of all
// directories above, along the file's current path without symbolic links.
//   Owner      must be a trusted owner. For directories above the file's own directory, a process
//              without privileges also accepts owners that its user namespace does not map.
//   Writers    must be the owner alone, or, in a process without privileges, also a group of the
//              rule. A sticky directory such as /tmp, above the file's own directory, may be
//              writable by anyone, because other users cannot rename or remove the next entry of
//              the path, which has a trusted owner.
// Errors  GUF_E_UNTRUSTED <= a check fails; the message names the entry
//         GUF_E_IO;  GUF_E_NO_MEMORY
guf_status check_trust(const char *path, const CheckedFile &file, const TrustRule &rule,
                       guf_error *error);

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

#endif  // GUFUNC_CORE_BASE_FILE_TRUST_H
