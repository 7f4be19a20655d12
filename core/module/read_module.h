// SPDX-License-Identifier: Apache-2.0
// Reads a module file into a sealed copy, whose digest is checked before any of its code runs.
#ifndef GUFUNC_CORE_MODULE_READ_MODULE_H
#define GUFUNC_CORE_MODULE_READ_MODULE_H

#include <elf.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/checked_file.h"
#include "core/base/elf_file.h"
#include "core/module/module_digest.h"

namespace gufunc::module {

// A memory file (memfd_create) with all seals, which no process can write, shrink or grow. The
// dynamic loader therefore maps exactly the bytes that were checked.
class SealedCopy {
 public:
  // Copies the whole file. `path` names the copy in /proc/PID/maps and in messages.
  // Errors  GUF_E_IO <= the file cannot be read or became shorter, or the system does not support
  //                     memory files
  //         GUF_E_NO_MEMORY;  GUF_E_BAD_FILE <= the file is empty
  guf_status copy(const char *path, const base::CheckedFile &file, guf_error *error);

  int descriptor() const { return file_.descriptor.get(); }
  std::span<const std::byte> bytes() const { return mapped_.bytes(); }

 private:
  base::CheckedFile file_;
  base::MappedBytes mapped_;
};

using Digest = std::array<uint8_t, 32>;

struct ModuleFile {
  SealedCopy copy;
  base::ElfFile elf;                 // parsed from the copy
  std::vector<Elf64_Phdr> segments;  // all program headers
  uint64_t span = 0;                 // end of the last segment in memory
  Digest digest = {};
};

// Opens, copies and checks a file. In privileged processes, the trust rules for plugins also apply
// to modules.
// Errors  GUF_E_IO <= the file cannot be opened, read or copied
//         GUF_E_UNTRUSTED <= the process is privileged, and the owner or mode of the file or of a
//                            directory above it is not acceptable
//         GUF_E_BAD_FILE <= not a module, above 64 MiB, damaged (the digest differs, or the file
//                           ends before or after the end of its ELF image), or its segments need
//                           more than 64 MiB of memory above the size of the file
//         GUF_E_ABI <= a different version of the note or a different kernel ABI;  GUF_E_NO_MEMORY
guf_status read_module_file(const char *path, ModuleFile *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_READ_MODULE_H
