// SPDX-License-Identifier: Apache-2.0
// Reads ELF files. After a bounds check, every structure is copied from the file's bytes.
#include "object_file.h"

#include <cstring>

namespace gufunc::gufcc {

bool ObjectFile::holds(const Elf64_Shdr &section) const {
  return section.sh_offset <= bytes_.size() && section.sh_size <= bytes_.size() - section.sh_offset;
}

template <class T>
bool ObjectFile::read(uint64_t offset, T *out) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
  std::memcpy(out, bytes_.data() + offset, sizeof(T));
  return true;
}

template <class T>
bool ObjectFile::read_list(const Elf64_Shdr &section, std::vector<T> *out) const {
  if (!holds(section)) return false;
  out->resize(section.sh_size / sizeof(T));
  if (out->empty()) return true;
  std::memcpy(out->data(), bytes_.data() + section.sh_offset, out->size() * sizeof(T));
  return true;
}

bool ObjectFile::read_name(const Elf64_Shdr &strings, uint64_t offset, std::string *out) const {
  if (!holds(strings) || offset >= strings.sh_size) return false;
  const char *const text = bytes_.data() + strings.sh_offset + offset;
  *out = std::string(text, strnlen(text, strings.sh_size - offset));
  return true;
}

bool ObjectFile::parse(std::string bytes) {
  bytes_ = std::move(bytes);
  if (!read_sections()) return false;
  for (const Section &section : sections_) {
    if (section.header.sh_type == SHT_SYMTAB && !read_symbols(section.header)) return false;
  }
  for (const Section &section : sections_) {
    if (section.header.sh_type == SHT_RELA && !read_relocations(section.header)) return false;
  }
  return true;
}

bool ObjectFile::read_sections() {
  Elf64_Ehdr header;
  if (!read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return false;
  }
  // With 65280 or more sections, section header 0 holds the counts.
  Elf64_Shdr first;
  if (!read(header.e_shoff, &first)) return false;
  const uint64_t count = header.e_shnum == 0 ? first.sh_size : header.e_shnum;
  const uint64_t names = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (count > bytes_.size() / sizeof(Elf64_Shdr) || names >= count) return false;
  sections_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (!read(header.e_shoff + i * sizeof(Elf64_Shdr), &sections_[i].header)) return false;
  }
  for (Section &section : sections_) {
    if (!read_name(sections_[names].header, section.header.sh_name, &section.name)) return false;
  }
  return true;
}

bool ObjectFile::read_symbols(const Elf64_Shdr &table) {
  std::vector<Elf64_Sym> entries;
  if (table.sh_link >= sections_.size() || !read_list(table, &entries)) return false;
  for (const Elf64_Sym &entry : entries) {
    Symbol symbol{{}, entry};
    if (!read_name(sections_[table.sh_link].header, entry.st_name, &symbol.name)) return false;
    const Section *const section = section_of(symbol);
    if (symbol.name.empty() && section != nullptr) symbol.name = section->name;
    symbols_.push_back(std::move(symbol));
  }
  return true;
}

bool ObjectFile::read_relocations(const Elf64_Shdr &table) {
  std::vector<Elf64_Rela> entries;
  if (table.sh_info >= sections_.size() || !read_list(table, &entries)) return false;
  for (const Elf64_Rela &entry : entries) {
    if (ELF64_R_SYM(entry.r_info) >= symbols_.size()) return false;
    relocations_.push_back({table.sh_info, entry});
  }
  return true;
}

const ObjectFile::Section *ObjectFile::section_of(const Symbol &symbol) const {
  const size_t index = symbol.entry.st_shndx;
  return index == SHN_UNDEF || index >= sections_.size() ? nullptr : &sections_[index];
}

const ObjectFile::Symbol *ObjectFile::symbol_at(size_t section, uint64_t offset,
                                                unsigned char type) const {
  for (const Symbol &symbol : symbols_) {
    if (symbol.entry.st_shndx == section && symbol.entry.st_value == offset &&
        ELF64_ST_TYPE(symbol.entry.st_info) == type) {
      return &symbol;
    }
  }
  return nullptr;
}

}  // namespace gufunc::gufcc
