// SPDX-License-Identifier: Apache-2.0
// The digest of a linked module.
#ifndef GUFUNC_TOOLS_GUFCC_MODULE_FILE_H
#define GUFUNC_TOOLS_GUFCC_MODULE_FILE_H

#include <filesystem>

#include "diagnostic.h"

namespace gufunc::gufcc {

// Writes the digest into the module note of the file.
bool write_digest(const std::filesystem::path &file, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_MODULE_FILE_H
