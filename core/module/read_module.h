// SPDX-License-Identifier: Apache-2.0
// Reads a module file into a sealed copy, whose digest is checked before any of its code runs.
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
  base::ElfFile elf;                 // parsed from the copy
  std::vector<Elf64_Phdr> segments;  // all program headers
  uint64_t span = 0;                 // end of the last segment in memory
  Digest digest = {};
};

// Opens, copies and checks a file. In privileged processes, the trust rules for plugins apply, too.
// Errors  GUF_E_IO <= the file cannot be opened, read or copied
//         GUF_E_UNTRUSTED <= the process is privileged, and the owner or mode of the file or of a
//                            directory above it is not acceptable
//         GUF_E_BAD_FILE <= not a module, above 64 MiB, damaged (the digest differs, or the file
//                           ends before or after the end of its ELF image), or its segments need
//                           more memory than check_segments permits
//         GUF_E_ABI <= another version of the note or another kernel ABI;  GUF_E_NO_MEMORY
guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_READ_MODULE_H
