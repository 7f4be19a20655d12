// SPDX-License-Identifier: Apache-2.0
// Checks the object file, which shows what the source does after inlining and constant folding.
// Code that the optimizer removed is not checked. ObjectFile copies every structure from the file's
// bytes after a bounds check.
#include "host_only.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include "refused_names.h"

namespace gufunc::gufcc {
namespace {

// Functions that compilers call implicitly. The C library and libgcc define them for host code, and
// device compilers generate their code inline.
const std::set<std::string> kOfTheCompiler = {
    "memcpy",   "memmove",  "memset",    "memcmp",    "bcmp",
    "__divti3", "__modti3", "__udivti3", "__umodti3", "_GLOBAL_OFFSET_TABLE_"};

// Symbols that the compiler adds for variables and static objects. They are reported only if there
// is no other finding, because they do not name the cause.
const std::set<std::string> kImplied = {"__cxa_atexit",        "__dso_handle",
                                        "__tls_get_addr",      "__cxa_guard_acquire",
                                        "__cxa_guard_release", "__cxa_guard_abort"};

bool is_function_section(const ObjectFile::Section *section) {
  return section != nullptr && (section->header.sh_flags & SHF_EXECINSTR) != 0;
}

void find_calls(const ObjectFile &object, bool may_print, std::vector<HostOnly> *found) {
  std::vector<HostOnly> implied;
  for (size_t i = 1; i < object.symbols().size(); ++i) {
    const ObjectFile::Symbol &symbol = object.symbols()[i];
    if (symbol.entry.st_shndx != SHN_UNDEF || kOfTheCompiler.contains(symbol.name)) continue;
    if (may_print && is_printing(symbol.name)) continue;
    const std::string message =
        fmt::format("a kernel cannot use '{}', which only the host has; {}", demangled(symbol.name),
                    advice_for_function(symbol.name));
    (kImplied.contains(symbol.name) ? implied : *found).push_back({symbol.name, message});
  }
  if (found->empty()) *found = std::move(implied);
}

// Whether a section is writable memory. Sections that only relocations write to are constant.
bool is_variable_section(const ObjectFile::Section *section) {
  constexpr uint64_t kWritable = SHF_WRITE | SHF_ALLOC;
  return section != nullptr && (section->header.sh_flags & kWritable) == kWritable &&
         section->header.sh_size > 0 && !section->name.starts_with(".data.rel.ro");
}

bool is_constructor_list(const ObjectFile::Section &section) {
  const uint32_t type = section.header.sh_type;
  return type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY ||
         section.name.starts_with(".ctors") || section.name.starts_with(".dtors");
}

void find_variables(const ObjectFile &object, std::vector<HostOnly> *found) {
  std::set<const ObjectFile::Section *> named;
  for (const ObjectFile::Symbol &symbol : object.symbols()) {
    const ObjectFile::Section *const section = object.section_of(symbol);
    const unsigned char type = ELF64_ST_TYPE(symbol.entry.st_info);
    if (!is_variable_section(section) || (type != STT_OBJECT && type != STT_TLS)) continue;
    named.insert(section);
    found->push_back(
        {symbol.name,
         fmt::format(
             "a kernel cannot have the {}variable '{}'; constants are GUF_TABLE at "
             "namespace scope, memory of a group is g.shared<T>(n), a value that outlives a call "
             "is an operand",
             type == STT_TLS ? "thread_local " : "", demangled(symbol.name))});
  }
  for (const ObjectFile::Section &section : object.sections()) {
    if (!is_variable_section(&section) || named.contains(&section)) continue;
    if (is_constructor_list(section)) {
      found->push_back({{},
                        "a kernel cannot have static objects with constructors or destructors; "
                        "constants are GUF_TABLE at namespace scope"});
    } else {
      found->push_back({{},
                        fmt::format("a kernel cannot have variables; its section {} is writable",
                                    section.name)});
    }
  }
}

// Finds addresses of functions, as opposed to calls: absolute relocations in data, and code that
// computes an address with an instruction other than a call or a jump.
void find_function_addresses(const ObjectFile &object, std::vector<HostOnly> *found) {
  std::set<std::string> seen;
  for (const ObjectFile::Relocation &relocation : object.relocations()) {
    const ObjectFile::Section &where = object.sections()[relocation.section];
    const bool in_code = is_function_section(&where);
    const auto type = ELF64_R_TYPE(relocation.entry.r_info);
    const bool takes = in_code ? type == R_X86_64_PC32 || type == R_X86_64_GOTPCREL ||
                                     type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX
                               : type == R_X86_64_64;
    if (!takes || (where.header.sh_flags & SHF_ALLOC) == 0 || is_constructor_list(where) ||
        where.name.starts_with(".text.startup")) {
      continue;  // static objects have their own error
    }
    const ObjectFile::Symbol *symbol = &object.symbols()[ELF64_R_SYM(relocation.entry.r_info)];
    if (!is_function_section(object.section_of(*symbol))) continue;
    if (ELF64_ST_TYPE(symbol->entry.st_info) == STT_SECTION) {
      // PC-relative offsets count from the end of the relocation's four bytes.
      const auto offset = static_cast<uint64_t>(relocation.entry.r_addend + (in_code ? 4 : 0));
      symbol = object.symbol_at(symbol->entry.st_shndx, offset, STT_FUNC);
      if (symbol == nullptr) continue;
    }
    if (!seen.insert(symbol->name).second) continue;
    found->push_back(
        {symbol->name,
         fmt::format("a kernel cannot have function pointers or virtual functions, here "
                     "of '{}'; call it by name or through a template",
                     demangled(symbol->name))});
  }
}

}  // namespace

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

// Keeps C names unchanged: the demangler would read "s" as short.
std::string demangled(const std::string &symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  char *const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return result;
}

std::vector<HostOnly> find_host_only(const ObjectFile &object, bool may_print) {
  std::vector<HostOnly> found;
  find_variables(object, &found);
  find_function_addresses(object, &found);
  find_calls(object, may_print, &found);
  return found;
}

}  // namespace gufunc::gufcc
