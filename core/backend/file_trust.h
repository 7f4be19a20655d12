// SPDX-License-Identifier: Apache-2.0
// Whose files this process runs code of.
#ifndef GUFUNC_CORE_BACKEND_FILE_TRUST_H
#define GUFUNC_CORE_BACKEND_FILE_TRUST_H

#include "core/backend/checked_file.h"

namespace gufunc::backend {

// Owners are root, the effective user and the owner of libgufunc's own file. The groups, besides
// root's, that may write count in processes without privileges only.
struct TrustRule {
  uid_t effective_user = 0;
  uid_t library_owner = 0;
  bool privileged = true;
  gid_t effective_group = 0;
  gid_t library_group = 0;
};

// Judges the open file, its directory and all directories above that one, by the place where the
// file is now, without symbolic links.
//   Owner      one of the rule's. A process without privileges also accepts, above the file's
//              directory, owners that its user namespace does not map.
//   Writers    nobody else; in a process without privileges also the rule's groups. Above the
//              file's directory a sticky directory such as /tmp may be written by all, since the
//              entry below it has an accepted owner.
// Errors  GUF_E_UNTRUSTED <= any of them fails; the message names it;  GUF_E_IO
guf_status check_trust(const char *path, const CheckedFile &file, const TrustRule &rule,
                       guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_FILE_TRUST_H
