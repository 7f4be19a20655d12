// SPDX-License-Identifier: Apache-2.0
// Checks where a module file ends.
#ifndef GUFUNC_CORE_MODULE_MODULE_EXTENT_H
#define GUFUNC_CORE_MODULE_MODULE_EXTENT_H

#include "core/base/elf_file.h"

namespace gufunc::module {

// Checks that the file ends where its last segment, section or header ends. The digest does not
// detect bytes that are missing after the segments or that are appended to the file.
// Errors  GUF_E_BAD_FILE <= the file is shorter or longer, or its section headers are malformed
guf_status check_extent(const char *path, const base::ElfFile &file, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_EXTENT_H
