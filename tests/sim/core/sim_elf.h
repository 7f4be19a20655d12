// SPDX-License-Identifier: Apache-2.0
// A 64-bit ELF file in memory. The length of the file is computed from the headers of the file, and
// every access is checked against this length. Headers with a length of more than 1 GiB are
// rejected.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_ELF_H
#define GUFUNC_TESTS_SIM_CORE_SIM_ELF_H

#include <elf.h>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

struct Section {
  std::string name;
  Elf64_Shdr header;
};

class Elf {
 public:
  // Returns false if the data is not an ELF file or its tables are out of bounds.
  bool open(const void *data);

  const Elf64_Ehdr &header() const { return header_; }
  uint64_t size() const { return size_; }
  const std::vector<Section> &sections() const { return sections_; }
  const Section *section(std::string_view name) const;
  // Returns the bytes of a section. The result is empty if the section has no content.
  std::string_view bytes(const Section &section) const;
  // Returns bytes at a virtual address from the section that contains the address. The result is
  // empty if the section is too short.
  std::string_view at_address(uint64_t address, uint64_t bytes) const;
  // Returns the symbols of a table section; symbol_name returns the name of one symbol.
  std::vector<Elf64_Sym> symbols(const Section &table) const;
  std::string symbol_name(const Section &table, const Elf64_Sym &symbol) const;

 private:
  bool inside(uint64_t offset, uint64_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset;
  }
  bool measure();

  const char *data_ = nullptr;
  uint64_t size_ = 0;
  Elf64_Ehdr header_ = {};
  std::vector<Section> sections_;
};

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_ELF_H
