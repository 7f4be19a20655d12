// SPDX-License-Identifier: Apache-2.0
// A module's file as bytes that stay as they were checked: copied once, checked by its own digest,
// before any code of it runs.
#ifndef GUFUNC_CORE_MODULE_READ_MODULE_H
#define GUFUNC_CORE_MODULE_READ_MODULE_H

#include <elf.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/elf_file.h"
#include "core/module/module_digest.h"
#include "core/module/sealed_copy.h"

namespace gufunc::module {

using Digest = std::array<uint8_t, 32>;

struct ModuleFile {
  SealedCopy copy;
  base::ElfFile elf;                 // of the copy's bytes
  std::vector<Elf64_Phdr> segments;  // its program headers
  uint64_t span = 0;                 // where the last segment ends in memory
  Digest digest = {};
};

// Opens, copies and checks. In a privileged process the file is held to the rules of plugins.
// Errors  GUF_E_IO <= it cannot be opened, read or copied
//         GUF_E_UNTRUSTED <= the process is privileged, and the file's owner or mode, or those of a
//                            directory above it, are not acceptable
//         GUF_E_BAD_FILE <= no module, above 128 MiB, damaged (the digest differs, or the file ends
//                           before or behind the end of its ELF image), or its segments ask for
//                           more memory than check_segments grants
//         GUF_E_ABI <= another version of the note or another kernel ABI;  GUF_E_NO_MEMORY
guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_READ_MODULE_H
