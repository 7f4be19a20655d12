// SPDX-License-Identifier: Apache-2.0
// The file is untrusted, so a header or note may be misaligned or outside the file. Each header or
// note is therefore bounds-checked and copied before its fields are read.
#include "core/base/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace gufunc::base {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kHostMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kHostMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kHostMachine = EM_RISCV;
#else
#error "name the ELF machine of this processor"
#endif

// Copies a T from `bytes` at `offset`. Returns false if `bytes` ends before the end of the T.
template <class T>
[[nodiscard]] bool read_at(std::span<const std::byte> bytes, uint64_t offset, T *out) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes.data() + offset, sizeof(T));
  return true;
}

bool is_inside(uint64_t offset, uint64_t size, uint64_t file_size) {
  return offset <= file_size && size <= file_size - offset;
}

guf_status bad_file(guf_error *error, const char *what, uint64_t found, uint64_t expected) {
  return fail(error, GUF_E_BAD_FILE, kNone, kNone,
              "not a loadable ELF file; %s: expected %llu, got %llu", what,
              static_cast<unsigned long long>(expected), static_cast<unsigned long long>(found));
}

guf_status check_header(const Elf64_Ehdr &header, uint64_t file_size, guf_error *error) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return fail(error, GUF_E_BAD_FILE, kNone, kNone,
                "not an ELF file; the first bytes are not the ELF magic");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64) {
    return bad_file(error, "class", header.e_ident[EI_CLASS], ELFCLASS64);
  }
  if (header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return bad_file(error, "byte order", header.e_ident[EI_DATA], ELFDATA2LSB);
  }
  if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT) {
    return bad_file(error, "version", header.e_version, EV_CURRENT);
  }
  if (header.e_type != ET_DYN) return bad_file(error, "type", header.e_type, ET_DYN);
  if (header.e_machine != kHostMachine) {
    return bad_file(error, "machine", header.e_machine, kHostMachine);
  }
  if (header.e_ehsize != sizeof(Elf64_Ehdr)) {
    return bad_file(error, "header size", header.e_ehsize, sizeof(Elf64_Ehdr));
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr)) {
    return bad_file(error, "program header size", header.e_phentsize, sizeof(Elf64_Phdr));
  }
  if (header.e_phnum == 0 || header.e_phnum > ElfFile::kMaxSegments) {
    return fail(error, GUF_E_BAD_FILE, kNone, kNone,
                "not a loadable ELF file; program headers: expected 1 to %zu, got %u",
                ElfFile::kMaxSegments, header.e_phnum);
  }
  if (!is_inside(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), file_size)) {
    return bad_file(error, "program headers are outside the file, offset", header.e_phoff,
                    file_size);
  }
  return GUF_OK;
}

constexpr uint64_t round_up_to_4(uint64_t n) {
  return (n + 3) & ~uint64_t{3};
}

}  // namespace

guf_status ElfFile::check_start(std::span<const std::byte> start, uint64_t file_size,
                                guf_error *error) {
  Elf64_Ehdr header;
  if (!read_at(start, 0, &header)) return bad_file(error, "file size", file_size, sizeof(header));
  return check_header(header, file_size, error);
}

guf_status ElfFile::open(std::span<const std::byte> bytes, ElfFile *out, guf_error *error) {
  GUF_TRY(check_start(bytes, bytes.size(), error));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));

  ElfFile file;
  file.bytes_ = bytes;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(bytes, header.e_phoff + i * sizeof(segment), &segment)) {
      return bad_file(error, "program header", i, header.e_phnum);
    }
    if (segment.p_type != PT_LOAD && segment.p_type != PT_NOTE) continue;
    if (!is_inside(segment.p_offset, segment.p_filesz, bytes.size())) {
      return bad_file(error, "a segment reaches past the end, its size", segment.p_filesz,
                      bytes.size());
    }
    if (segment.p_memsz < segment.p_filesz) {
      return bad_file(error, "size of a segment in memory", segment.p_memsz, segment.p_filesz);
    }
    const FileRange range{segment.p_offset, segment.p_filesz};
    if (segment.p_type == PT_LOAD) {
      file.loads_[file.nloads_++] = range;
    } else {
      file.notes_[file.nnotes_++] = range;
    }
  }
  if (file.nloads_ == 0) return bad_file(error, "loadable segments", 0, 1);
  std::sort(file.loads_, file.loads_ + file.nloads_, [](const FileRange &a, const FileRange &b) {
    return std::tie(a.offset, a.size) < std::tie(b.offset, b.size);
  });
  *out = file;
  return GUF_OK;
}

bool ElfFile::find_note(std::string_view name, uint32_t type, FileRange *out_descriptor) const {
  for (const FileRange &segment : std::span(notes_, nnotes_)) {
    if (find_note_in(bytes_.subspan(segment.offset, segment.size), name, type, out_descriptor)) {
      out_descriptor->offset += segment.offset;
      return true;
    }
  }
  return false;
}

bool ElfFile::find_note_in(std::span<const std::byte> segment, std::string_view name, uint32_t type,
                           FileRange *out_descriptor) {
  const uint64_t end = segment.size();
  uint64_t at = 0;
  Elf64_Nhdr note;
  while (at <= end && read_at(segment, at, &note)) {
    const uint64_t owner = at + sizeof(note);
    const uint64_t descriptor = owner + round_up_to_4(note.n_namesz);
    // A 32-bit size plus an offset inside the file cannot overflow 64 bits.
    if (descriptor > end || note.n_descsz > end - descriptor)
      break;  // malformed: ignore the rest of the segment
    if (note.n_type == type && note.n_namesz == name.size() + 1 &&
        std::memcmp(segment.data() + owner, name.data(), name.size()) == 0 &&
        segment[owner + name.size()] == std::byte{0}) {
      *out_descriptor = {descriptor, note.n_descsz};
      return true;
    }
    at = descriptor + round_up_to_4(note.n_descsz);
  }
  return false;
}

}  // namespace gufunc::base
