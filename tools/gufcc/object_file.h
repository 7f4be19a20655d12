// SPDX-License-Identifier: Apache-2.0
// What an object of the compiler needs and holds, for the search for code of the host.
#ifndef GUFUNC_TOOLS_GUFCC_OBJECT_FILE_H
#define GUFUNC_TOOLS_GUFCC_OBJECT_FILE_H

#include <elf.h>

#include <string>
#include <vector>

namespace gufunc::gufcc {

// A relocatable ELF file, 64-bit little endian; owns its bytes.
class ObjectFile {
 public:
  struct Section {
    std::string name;
    Elf64_Shdr header = {};
  };
  struct Symbol {
    std::string name;  // of the section, where it stands for one
    Elf64_Sym entry = {};
  };
  struct Relocation {
    size_t section = 0;  // that it lies in
    Elf64_Rela entry = {};
  };

  // False when it is no such file or anything in it lies outside of it.
  bool parse(std::string bytes);

  const std::vector<Section> &sections() const { return sections_; }
  const std::vector<Symbol> &symbols() const { return symbols_; }
  const std::vector<Relocation> &relocations() const { return relocations_; }

  // The section that a symbol lies in; nullptr: undefined, absolute.
  const Section *section_of(const Symbol &symbol) const;
  // The symbol of `type` that starts at a place of a section; nullptr when there is none.
  const Symbol *symbol_at(size_t section, uint64_t offset, unsigned char type) const;

 private:
  bool read_sections();
  bool read_symbols(const Elf64_Shdr &table);
  bool read_relocations(const Elf64_Shdr &table);
  bool holds(const Elf64_Shdr &section) const;
  template <class T>
  bool read(uint64_t offset, T *out) const;
  template <class T>
  bool read_list(const Elf64_Shdr &section, std::vector<T> *out) const;
  bool read_name(const Elf64_Shdr &strings, uint64_t offset, std::string *out) const;

  std::string bytes_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<Relocation> relocations_;
};

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OBJECT_FILE_H
