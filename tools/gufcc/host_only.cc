// SPDX-License-Identifier: Apache-2.0
// Checks the object file, which shows what the source does after inlining and constant folding.
// Code that the optimizer removed is not checked.
#include "host_only.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
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
