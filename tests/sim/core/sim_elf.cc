// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_elf.h"

#include <algorithm>
#include <cstring>

namespace sim {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

std::string text_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

// Computes the length of the file: the end of all sections, segments and tables.
bool Elf::measure() {
  const auto reach = [&](uint64_t offset, uint64_t bytes) {
    if (offset > kMaxBytes || bytes > kMaxBytes) return false;
    size_ = std::max(size_, offset + bytes);
    return true;
  };
  const uint64_t section_table = uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr);
  const uint64_t segment_table = uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr);
  if (!reach(header_.e_shoff, section_table) || !reach(header_.e_phoff, segment_table)) {
    return false;
  }
  for (uint64_t i = 0; i < header_.e_shnum; ++i) {
    Section section;
    std::memcpy(&section.header, data_ + header_.e_shoff + i * sizeof(Elf64_Shdr),
                sizeof(Elf64_Shdr));
    const bool stored = section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL;
    if (stored && !reach(section.header.sh_offset, section.header.sh_size)) return false;
    sections_.push_back(section);
  }
  for (uint64_t i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, data_ + header_.e_phoff + i * sizeof(Elf64_Phdr), sizeof(segment));
    if (!reach(segment.p_offset, segment.p_filesz)) return false;
  }
  return true;
}

bool Elf::open(const void *data) {
  data_ = static_cast<const char *>(data);
  if (std::memcmp(data_, ELFMAG, SELFMAG) != 0 || data_[EI_CLASS] != ELFCLASS64 ||
      data_[EI_DATA] != ELFDATA2LSB) {
    return false;
  }
  std::memcpy(&header_, data_, sizeof(header_));
  size_ = sizeof(header_);
  if (header_.e_shentsize != sizeof(Elf64_Shdr) && header_.e_shnum != 0) return false;
  if (header_.e_phentsize != sizeof(Elf64_Phdr) && header_.e_phnum != 0) return false;
  if (!measure() || header_.e_shstrndx >= sections_.size()) return false;
  const std::string_view names = bytes(sections_[header_.e_shstrndx]);
  for (Section &section : sections_) section.name = text_at(names, section.header.sh_name);
  return true;
}

const Section *Elf::section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section &one) { return one.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::string_view Elf::bytes(const Section &section) const {
  const Elf64_Shdr &header = section.header;
  if (header.sh_type == SHT_NOBITS || !inside(header.sh_offset, header.sh_size)) return {};
  return {data_ + header.sh_offset, header.sh_size};
}

std::string_view Elf::at_address(uint64_t address, uint64_t count) const {
  for (const Section &section : sections_) {
    const Elf64_Shdr &header = section.header;
    if (!(header.sh_flags & SHF_ALLOC) || address < header.sh_addr) continue;
    const uint64_t offset = address - header.sh_addr;
    const std::string_view all = bytes(section);
    if (offset <= all.size() && count <= all.size() - offset) return all.substr(offset, count);
  }
  return {};
}

std::vector<Elf64_Sym> Elf::symbols(const Section &table) const {
  const std::string_view all = bytes(table);
  std::vector<Elf64_Sym> symbols(all.size() / sizeof(Elf64_Sym));
  if (!symbols.empty()) std::memcpy(symbols.data(), all.data(), symbols.size() * sizeof(Elf64_Sym));
  return symbols;
}

std::string Elf::symbol_name(const Section &table, const Elf64_Sym &symbol) const {
  if (table.header.sh_link >= sections_.size()) return {};
  return text_at(bytes(sections_[table.header.sh_link]), symbol.st_name);
}

}  // namespace sim
