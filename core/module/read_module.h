// SPDX-License-Identifier: Apache-2.0
// A module's file as bytes: read once, checked by its own digest, before any code of it runs.
#ifndef GUFUNC_CORE_MODULE_READ_MODULE_H
#define GUFUNC_CORE_MODULE_READ_MODULE_H

#include <elf.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/backend/checked_file.h"
#include "core/base/elf_file.h"
#include "core/module/module_digest.h"

namespace gufunc::module {

using Digest = std::array<uint8_t, 32>;

struct ModuleFile {
  backend::CheckedFile file;
  std::vector<std::byte> bytes;
  base::ElfFile elf;  // of `bytes`
  Digest digest = {};

  // Program headers, copied out of the bytes.
  std::vector<Elf64_Phdr> segments() const;
};

// Opens, reads and checks.
// Errors  GUF_E_IO <= it cannot be opened or read
//         GUF_E_BAD_FILE <= no module, too large, or damaged (the digest differs, or the file ends
//                           before or behind the end of its ELF image)
//         GUF_E_ABI <= another version of the note or another kernel ABI
guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_READ_MODULE_H
