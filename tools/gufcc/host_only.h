// SPDX-License-Identifier: Apache-2.0
// Finds code in a compiled kernel that only a host can run, with a reader of object files. Such
// code would compile for the cpu but for no device.
#ifndef GUFUNC_TOOLS_GUFCC_HOST_ONLY_H
#define GUFUNC_TOOLS_GUFCC_HOST_ONLY_H

#include <elf.h>

#include <string>
#include <vector>

namespace gufunc::gufcc {

// A relocatable 64-bit little-endian ELF file. Owns its bytes.
class ObjectFile {
 public:
  struct Section {
    std::string name;
    Elf64_Shdr header = {};
  };
  struct Symbol {
    std::string name;  // section symbols: name of the section
    Elf64_Sym entry = {};
  };
  struct Relocation {
    size_t section = 0;  // index of the section that it changes
    Elf64_Rela entry = {};
  };

  // Returns false if the bytes are not such an ELF file, or if anything in the file is out of
  // bounds.
  bool parse(std::string bytes);

  const std::vector<Section> &sections() const { return sections_; }
  const std::vector<Symbol> &symbols() const { return symbols_; }
  const std::vector<Relocation> &relocations() const { return relocations_; }

  // The section that defines a symbol; nullptr if the symbol is undefined or absolute.
  const Section *section_of(const Symbol &symbol) const;
  // The symbol of `type` at an offset of a section; nullptr if there is none.
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

struct HostOnly {
  std::string symbol;   // mangled; empty: the object as a whole
  std::string message;  // what was found and what to use instead
};

// Reports variables, constructors of static objects, addresses of functions, and calls of functions
// that neither the kernel nor the compiler defines. An empty result means that a device can run the
// code. If `may_print` is true, calls of printing functions are allowed.
std::vector<HostOnly> find_host_only(const ObjectFile &object, bool may_print = false);

// Returns "f(float)" for "_Z1ff". C names are returned unchanged.
std::string demangled(const std::string &symbol);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_HOST_ONLY_H
