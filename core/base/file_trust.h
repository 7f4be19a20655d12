// SPDX-License-Identifier: Apache-2.0
// Decides which files this process may load code from.
#ifndef GUFUNC_CORE_BASE_FILE_TRUST_H
#define GUFUNC_CORE_BASE_FILE_TRUST_H

#include "core/base/checked_file.h"

namespace gufunc::base {

// Trusted owners are root, the effective user and the owner of the library's own file. Group write
// permission is acceptable only in processes without privileges, for root's group and the two
// groups here.
struct TrustRule {
  uid_t effective_user = 0;
  uid_t library_owner = 0;
  bool privileged = true;
  gid_t effective_group = 0;
  gid_t library_group = 0;
};

// Checks the open file, its directory and all directories above it, at the file's current location,
// without symbolic links.
//   Owner      must be a trusted owner. A process without privileges also accepts, above the
//              directory of the file, owners that its user namespace does not map.
//   Writers    nobody else; in a process without privileges also the groups of the rule. Above the
//              directory of the file, a sticky directory such as /tmp may be writable for all,
//              because the entry below it has a trusted owner.
// Errors  GUF_E_UNTRUSTED <= a check fails; the message names the entry;  GUF_E_IO
guf_status check_trust(const char *path, const CheckedFile &file, const TrustRule &rule,
                       guf_error *error);

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_FILE_TRUST_H
