// SPDX-License-Identifier: Apache-2.0
// Builds a minimal ELF file in memory for tests of ELF parsers: a header, three program headers,
// and two load segments around a note segment.
#ifndef GUFUNC_TESTS_UNIT_ELF_SAMPLE_H
#define GUFUNC_TESTS_UNIT_ELF_SAMPLE_H

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace gufunc::testing {

struct ElfSample {
  static constexpr size_t kNoteOffset = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);

  Elf64_Ehdr header{};
  Elf64_Phdr segments[3]{};
  std::string note_owner = "gufunc";
  uint32_t note_type = 0;
  std::vector<uint8_t> descriptor;
  std::vector<uint8_t> payload = std::vector<uint8_t>(100, 0x5a);
  std::vector<uint8_t> tail =
      std::vector<uint8_t>(24, 0x77);  // bytes after all segments, in place of section headers

  ElfSample(uint32_t type, std::vector<uint8_t> note)
      : note_type(type), descriptor(std::move(note)) {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
#if defined(__aarch64__)
    header.e_machine = EM_AARCH64;
#else
    header.e_machine = EM_X86_64;
#endif
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_shoff = 4711;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 9;
    header.e_shstrndx = 8;
    const size_t note_size = note_bytes().size();
    set_segment(0, PT_LOAD, kNoteOffset + note_size, payload.size());
    set_segment(1, PT_NOTE, kNoteOffset, note_size);
    set_segment(2, PT_LOAD, 0, kNoteOffset + note_size);
  }

  void set_segment(int i, uint32_t type, uint64_t offset, uint64_t size) {
    segments[i].p_type = type;
    segments[i].p_offset = offset;
    segments[i].p_filesz = segments[i].p_memsz = size;
  }

  std::vector<uint8_t> note_bytes() const {
    Elf64_Nhdr note{static_cast<uint32_t>(note_owner.size() + 1),
                    static_cast<uint32_t>(descriptor.size()), note_type};
    std::vector<uint8_t> bytes(sizeof(note));
    std::memcpy(bytes.data(), &note, sizeof(note));
    bytes.insert(bytes.end(), note_owner.begin(), note_owner.end());
    bytes.resize((bytes.size() + 1 + 3) / 4 * 4);
    bytes.insert(bytes.end(), descriptor.begin(), descriptor.end());
    bytes.resize((bytes.size() + 3) / 4 * 4);
    return bytes;
  }

  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> all(kNoteOffset);
    std::memcpy(all.data(), &header, sizeof(header));
    std::memcpy(all.data() + sizeof(header), segments, sizeof(segments));
    for (const auto &part : {note_bytes(), payload, tail})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

inline std::span<const std::byte> as_bytes(const std::vector<uint8_t> &bytes) {
  return std::as_bytes(std::span(bytes));
}

}  // namespace gufunc::testing

#endif  // GUFUNC_TESTS_UNIT_ELF_SAMPLE_H
