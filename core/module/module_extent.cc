// SPDX-License-Identifier: Apache-2.0
// Checks the size of a module file. A loaded module does not use sections, which
// matter here only because they may be the last part of the file. `strip`
// rewrites sections and may remove all of them.
#include "core/module/module_extent.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace gufunc::module {
namespace {

guf_status fail_malformed(const char *path, guf_error *error) {
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "%s is damaged; its section headers are malformed or are outside the file",
                    path);
}

// Computes the end of the section headers and of the sections.
guf_status find_sections_end(const char *path, std::span<const std::byte> bytes,
                             const Elf64_Ehdr &header, uint64_t *out, guf_error *error) {
  if (header.e_shoff == 0 && header.e_shnum == 0) return GUF_OK;
  const uint64_t size = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff > bytes.size() || size > bytes.size() - header.e_shoff) {
    return fail_malformed(path, error);
  }
  *out = std::max(*out, header.e_shoff + size);
  for (uint64_t at = header.e_shoff; at < header.e_shoff + size; at += sizeof(Elf64_Shdr)) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + at, sizeof section);
    if (section.sh_type == SHT_NULL || section.sh_type == SHT_NOBITS) continue;
    uint64_t end = 0;
    if (__builtin_add_overflow(section.sh_offset, section.sh_size, &end)) {
      return fail_malformed(path, error);
    }
    *out = std::max(*out, end);
  }
  return GUF_OK;
}

}  // namespace

guf_status check_extent(const char *path, const base::ElfFile &file, guf_error *error) {
  Elf64_Ehdr header;  // ElfFile::open has checked this header and the program headers
  std::memcpy(&header, file.bytes().data(), sizeof header);
  uint64_t end = header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  for (const base::FileRange &load : file.loads()) end = std::max(end, load.offset + load.size);
  GUF_TRY(find_sections_end(path, file.bytes(), header, &end, error));
  if (file.bytes().size() == end) return GUF_OK;
  return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                    "%s is damaged; its size in bytes: expected %llu, got %zu", path,
                    static_cast<unsigned long long>(end), file.bytes().size());
}

}  // namespace gufunc::module
