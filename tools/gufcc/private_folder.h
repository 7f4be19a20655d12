// SPDX-License-Identifier: Apache-2.0
// A folder that no other user can put files into.
#ifndef GUFUNC_TOOLS_GUFCC_PRIVATE_FOLDER_H
#define GUFUNC_TOOLS_GUFCC_PRIVATE_FOLDER_H

#include <filesystem>
#include <string>

#include "files.h"

namespace gufunc::gufcc {

// Opens `folder` and makes what is missing of its path, for the user alone. Not open when it cannot
// be made or read, or when another user owns or can write to the folder or one above it; for the
// latter `*refusal` names the folder and what to do. Root may own folders above it, and those may
// be writable where the sticky bit keeps the user's own in place, as in /tmp.
Descriptor open_private_folder(const std::filesystem::path &folder, std::string *refusal);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_PRIVATE_FOLDER_H
