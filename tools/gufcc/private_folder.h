// SPDX-License-Identifier: Apache-2.0
// A folder that no other user can write to.
#ifndef GUFUNC_TOOLS_GUFCC_PRIVATE_FOLDER_H
#define GUFUNC_TOOLS_GUFCC_PRIVATE_FOLDER_H

#include <filesystem>
#include <string>

#include "files.h"

namespace gufunc::gufcc {

// Opens `folder`, and creates missing folders of its path with access for the user only. The result
// is not open if the folder cannot be created or read, or if another user owns or can write to the
// folder or one of its parents. In the latter case `*refusal` names that folder and a remedy.
// Parents may belong to root, and may be writable if the sticky bit protects the user's own folder,
// as in /tmp.
Descriptor open_private_folder(const std::filesystem::path &folder, std::string *refusal);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_PRIVATE_FOLDER_H
