// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <cstring>

#include "tests/sim/cases/test_kernels.h"

namespace sim_test {
namespace {

struct SectionText {
  std::string name;
  uint32_t type;
  uint64_t flags;
  std::string bytes;
  uint32_t link = 0;
  uint64_t address = 0;
};

template <class T>
void append(std::string *to, const T &value) {
  to->append(reinterpret_cast<const char *>(&value), sizeof(value));
}

uint32_t add_name(std::string *names, const std::string &name) {
  const auto at = static_cast<uint32_t>(names->size());
  *names += name + '\0';
  return at;
}

// Builds an ELF file with the given sections after section 0. The last section contains the section
// names.
std::string elf_file(uint16_t machine, unsigned char abi, unsigned char abi_version, uint32_t flags,
                     std::vector<SectionText> sections) {
  std::string names(1, '\0');
  sections.push_back({".shstrtab", SHT_STRTAB, 0, ""});
  std::vector<Elf64_Shdr> table(1);
  for (const SectionText &section : sections) {
    Elf64_Shdr header = {};
    header.sh_name = add_name(&names, section.name);
    header.sh_type = section.type;
    header.sh_flags = section.flags;
    header.sh_link = section.link;
    header.sh_addr = section.address;
    table.push_back(header);
  }
  sections.back().bytes = names;
  std::string file(sizeof(Elf64_Ehdr), '\0');
  for (size_t i = 0; i < sections.size(); ++i) {
    table[i + 1].sh_offset = file.size();
    table[i + 1].sh_size = sections[i].bytes.size();
    file += sections[i].bytes;
  }
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_OSABI] = abi;
  header.e_ident[EI_ABIVERSION] = abi_version;
  header.e_machine = machine;
  header.e_flags = flags;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(table.size());
  header.e_shstrndx = static_cast<uint16_t>(table.size() - 1);
  for (const Elf64_Shdr &one : table) append(&file, one);
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

// add_half appends a record with a 16-bit value to .nv.info. add_words appends a record with 32-bit
// values.
void add_half(std::string *info, unsigned char attribute, uint16_t value) {
  *info += '\x03';
  *info += static_cast<char>(attribute);
  append(info, value);
}
void add_words(std::string *info, unsigned char attribute, std::vector<uint32_t> words) {
  *info += '\x04';
  *info += static_cast<char>(attribute);
  append(info, static_cast<uint16_t>(words.size() * 4));
  for (const uint32_t word : words) append(info, word);
}

// pack, pack_table and pack_list write the subset of msgpack that the metadata of AMD images uses.
std::string pack(const std::string &text) {
  return std::string(1, '\xD9') + static_cast<char>(text.size()) + text;
}
std::string pack(uint32_t number) {
  std::string bytes(1, '\xCE');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}
std::string pack_table(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string bytes(1, static_cast<char>(0x80 | entries.size()));
  for (const auto &[key, value] : entries) bytes += pack(key) + value;
  return bytes;
}
std::string pack_list(const std::vector<std::string> &values) {
  std::string bytes(1, static_cast<char>(0x90 | values.size()));
  for (const std::string &value : values) bytes += value;
  return bytes;
}

std::string metadata_of(const TestKernel &kernel) {
  const std::string argument = pack_table({{".offset", pack(0)},
                                           {".size", pack(kernel.argument_bytes)},
                                           {".value_kind", pack("by_value")}});
  const std::string hidden = pack_table({{".offset", pack(kernel.argument_bytes)},
                                         {".size", pack(4)},
                                         {".value_kind", pack("hidden_block_count_x")}});
  return pack_table({{".name", pack(kernel.name)},
                     {".symbol", pack(kernel.name + std::string(".kd"))},
                     {".args", pack_list({argument, hidden})},
                     {".kernarg_segment_size", pack(kernel.argument_bytes + 256)},
                     {".group_segment_fixed_size", pack(kernel.shared_bytes)},
                     {".private_segment_fixed_size", pack(0)},
                     {".max_flat_workgroup_size", pack(kernel.max_threads)},
                     {".vgpr_count", pack(24)}});
}

}  // namespace

const std::vector<TestKernel> &test_kernels() {
  static const std::vector<TestKernel> all = {
      {"sim_add", 32, 256, 0},    {"sim_sum", 32, 1024, 0},  {"sim_missed", 32, 1024, 0},
      {"sim_order", 32, 1024, 0}, {"sim_other", 40, 256, 0}, {"sim_absent", 32, 256, 64},
  };
  return all;
}

std::string ptx_image(const std::string &version, const std::string &target) {
  std::string text = "// kernels of tests\n.version " + version + "\n.target " + target +
                     "\n.address_size 64\n/* a comment with .entry in it */\n";
  for (const TestKernel &kernel : test_kernels()) {
    text += ".visible .entry " + std::string(kernel.name) + "(\n\t.param .align 8 .b8 " +
            kernel.name + "_param_0[" + std::to_string(kernel.argument_bytes) + "]\n)\n.maxntid " +
            std::to_string(kernel.max_threads) + ", 1, 1\n{\n\tret;\n}\n";
  }
  return text;
}

std::string cubin_image(int arch) {
  std::vector<SectionText> sections;
  for (const TestKernel &kernel : test_kernels()) {
    sections.push_back({".text." + std::string(kernel.name), SHT_PROGBITS,
                        SHF_ALLOC | SHF_EXECINSTR, std::string(16, '\x90')});
    std::string info;
    add_words(&info, 0x17, {0, 0, kernel.argument_bytes << 18});
    add_words(&info, 0x05, {kernel.max_threads, 1, 1});
    add_half(&info, 0x19, static_cast<uint16_t>(kernel.argument_bytes));
    sections.push_back({".nv.info." + std::string(kernel.name), SHT_LOPROC, 0, info});
  }
  return elf_file(190, 0x41, 8, static_cast<uint32_t>(arch) << 8, std::move(sections));
}

std::string amd_image(uint32_t flags) {
  std::string names(1, '\0'), symbols(sizeof(Elf64_Sym), '\0'), code;
  std::vector<std::string> kernels;
  constexpr uint64_t kAddress = 0x1000;
  for (const TestKernel &kernel : test_kernels()) {
    Elf64_Sym symbol = {};
    symbol.st_name = add_name(&names, kernel.name + std::string(".kd"));
    symbol.st_value = kAddress + code.size();
    symbol.st_size = 64;
    symbol.st_shndx = 4;
    append(&symbols, symbol);
    append(&code, kernel.shared_bytes);
    append(&code, uint32_t{0});
    append(&code, kernel.argument_bytes + 256);
    code.append(52, '\0');
    kernels.push_back(metadata_of(kernel));
  }
  const std::string metadata = pack_table({{"amdhsa.kernels", pack_list(kernels)}});
  std::string note;
  append(&note, Elf64_Nhdr{7, static_cast<uint32_t>(metadata.size()), 32});
  note += std::string("AMDGPU\0\0", 8) + metadata;
  note.resize((note.size() + 3) / 4 * 4);
  return elf_file(224, 64, 3, flags,
                  {{".note", SHT_NOTE, SHF_ALLOC, note},
                   {".dynsym", SHT_DYNSYM, SHF_ALLOC, symbols, 3},
                   {".dynstr", SHT_STRTAB, SHF_ALLOC, names},
                   {".rodata", SHT_PROGBITS, SHF_ALLOC, code, 0, kAddress}});
}

std::vector<std::string> listed_images() {
  return {ptx_image("6.3", "sm_75"), cubin_image(90), amd_image(0x54C), amd_image(0x041)};
}

}  // namespace sim_test
