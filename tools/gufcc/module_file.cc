// SPDX-License-Identifier: Apache-2.0
// Uses code of the module loader, so that gufcc and the loader compute and place the digest in the
// same way.
#include "module_file.h"

#include <cstring>
#include <span>
#include <string>

#include "core/module/module_digest.h"
#include "files.h"

namespace gufunc::gufcc {

bool write_digest(const std::filesystem::path &file, Diagnostics *diagnostics) {
  std::string content;
  if (!read_file(file, &content, diagnostics)) return false;
  guf_error error{};
  error.struct_size = sizeof(error);
  base::ElfFile elf;
  module::ModuleNote note;
  std::array<uint8_t, 32> digest;
  uint64_t offset = 0;
  if (base::ElfFile::open(std::as_bytes(std::span(content)), &elf, &error) != GUF_OK ||
      module::compute_digest(elf, &note, &digest, &offset, &error) != GUF_OK) {
    return diagnostics->error({}, "the linked module is unusable: {}", std::string(error.message));
  }
  std::memcpy(content.data() + offset, digest.data(), digest.size());
  return write_file(file, content, diagnostics);
}

}  // namespace gufunc::gufcc
