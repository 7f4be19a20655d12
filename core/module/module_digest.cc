// SPDX-License-Identifier: Apache-2.0
// The digest of a module file. Fields of the file that `strip` may change are hashed as zeros.
#include "core/module/module_digest.h"

#include <elf.h>
#include <sha2.h>

#include <algorithm>
#include <cstring>

namespace gufunc::module {
namespace {

using base::FileRange;

// Returns the ranges that are hashed as zeros: the section header fields of the ELF
// header, and the digest at `digest_offset`.
std::array<FileRange, 3> ranges_read_as_zero(uint64_t digest_offset) {
  static_assert(offsetof(Elf64_Ehdr, e_shstrndx) + sizeof(Elf64_Half) ==
                offsetof(Elf64_Ehdr, e_shentsize) + 3 * sizeof(Elf64_Half));
  return {{{offsetof(Elf64_Ehdr, e_shoff), sizeof(Elf64_Off)},
           {offsetof(Elf64_Ehdr, e_shentsize), 3 * sizeof(Elf64_Half)},
           {digest_offset, sizeof(ModuleNote::digest)}}};
}

void update(SHA2_CTX *context, std::span<const std::byte> bytes) {
  SHA256Update(context, reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

// Hashes `part` of the file. Bytes in the sorted ranges `zeros` are hashed as zeros.
void update_blanked(SHA2_CTX *context, std::span<const std::byte> file, FileRange part,
                    std::span<const FileRange> zeros) {
  static constexpr std::byte kZeros[32] = {};
  const uint64_t end = part.offset + part.size;
  uint64_t at = part.offset;
  for (const FileRange &zero : zeros) {
    const uint64_t first = std::clamp(zero.offset, at, end);
    const uint64_t last = std::clamp(zero.offset + zero.size, first, end);
    update(context, file.subspan(at, first - at));
    update(context, std::span(kZeros).first(last - first));
    at = last;
  }
  update(context, file.subspan(at, end - at));
}

}  // namespace

guf_status compute_digest(const base::ElfFile &file, ModuleNote *out_note,
                          std::array<uint8_t, 32> *out_digest, uint64_t *out_digest_offset,
                          guf_error *error) {
  FileRange descriptor;
  if (!file.find_note(base::kNoteOwner, base::kModuleNoteType, &descriptor)) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "not a gufunc module; the file has no gufunc module note");
  }
  if (descriptor.size != sizeof(ModuleNote)) {
    return base::fail(error, GUF_E_BAD_FILE, base::kNone, base::kNone,
                      "damaged gufunc module; size of the module note: expected %zu, got %llu",
                      sizeof(ModuleNote), static_cast<unsigned long long>(descriptor.size));
  }
  std::memcpy(out_note, file.bytes().data() + descriptor.offset, sizeof(ModuleNote));
  *out_digest_offset = descriptor.offset + offsetof(ModuleNote, digest);

  std::array<FileRange, 3> zeros = ranges_read_as_zero(*out_digest_offset);
  std::sort(zeros.begin(), zeros.end(),
            [](const FileRange &a, const FileRange &b) { return a.offset < b.offset; });
  SHA2_CTX context;
  SHA256Init(&context);
  for (const FileRange &load : file.loads()) update_blanked(&context, file.bytes(), load, zeros);
  SHA256Final(out_digest->data(), &context);
  return GUF_OK;
}

}  // namespace gufunc::module
