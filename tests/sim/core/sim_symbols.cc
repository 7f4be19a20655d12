// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_symbols.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <map>

#include "tests/sim/core/sim_config.h"

namespace sim {
namespace {

struct Symbol {
  Elf64_Sym *entry;
  Elf64_Sym original;
};

// The ELF tables of this library, as loaded by the dynamic linker.
struct Self {
  uint64_t base = 0;
  const Elf64_Dyn *dynamic = nullptr;
};

int find_self(dl_phdr_info *info, size_t, void *out) {
  const auto own = reinterpret_cast<uint64_t>(&find_self);
  const Elf64_Dyn *dynamic = nullptr;
  bool mine = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const Elf64_Phdr &header = info->dlpi_phdr[i];
    const uint64_t first = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && own >= first && own - first < header.p_memsz) mine = true;
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const Elf64_Dyn *>(first);
  }
  if (!mine) return 0;
  *static_cast<Self *>(out) = {info->dlpi_addr, dynamic};
  return 1;
}

uint64_t entry_of(const Elf64_Dyn *dynamic, int64_t tag) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == tag) return dynamic->d_un.d_ptr;
  }
  return 0;
}

// Returns the number of symbols. The last chain of the GNU hash table ends with the last symbol.
uint32_t count_symbols(const uint32_t *hash) {
  const uint32_t buckets = hash[0], offset = hash[1], bloom = hash[2];
  const uint32_t *bucket = hash + 4 + bloom * 2;
  const uint32_t *chain = bucket + buckets;
  uint32_t last = 0;
  for (uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
  if (last == 0) return offset;
  while (!(chain[last - offset] & 1)) ++last;
  return last + 1;
}

bool is_vendors(const std::string &name) {
  return name.rfind("cu", 0) == 0 || name.rfind("hip", 0) == 0;
}

struct Table {
  uint64_t base = 0;
  std::map<std::string, Symbol> symbols;
};

Table read_table() {
  Table table;
  Self self;
  dl_iterate_phdr(find_self, &self);
  if (self.dynamic == nullptr) return table;
  table.base = self.base;
  auto *symbols = reinterpret_cast<Elf64_Sym *>(entry_of(self.dynamic, DT_SYMTAB));
  const auto *names = reinterpret_cast<const char *>(entry_of(self.dynamic, DT_STRTAB));
  const auto *hash = reinterpret_cast<const uint32_t *>(entry_of(self.dynamic, DT_GNU_HASH));
  if (symbols == nullptr || names == nullptr || hash == nullptr) return table;
  const uint32_t count = count_symbols(hash);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = names + symbols[i].st_name;
    const bool function = ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC;
    if (function && symbols[i].st_shndx != SHN_UNDEF && is_vendors(name)) {
      table.symbols[name] = {&symbols[i], symbols[i]};
    }
  }
  return table;
}

Table &table() {
  static auto *all = new Table(read_table());
  return *all;
}

void write_symbol(Elf64_Sym *entry, const Elf64_Sym &value) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = reinterpret_cast<uint64_t>(entry) / page * page;
  const uint64_t last = reinterpret_cast<uint64_t>(entry) + sizeof(*entry);
  auto *pages = reinterpret_cast<void *>(first);
  if (mprotect(pages, last - first, PROT_READ | PROT_WRITE) != 0) return;
  *entry = value;
  mprotect(pages, last - first, PROT_READ);
}

}  // namespace

const std::vector<std::string> &all_functions() {
  static const auto *names = [] {
    auto *all = new std::vector<std::string>;
    for (const auto &[name, symbol] : table().symbols) all->push_back(name);
    return all;
  }();
  return *names;
}

void *function_address(const std::string &name) {
  const auto found = table().symbols.find(name);
  if (found == table().symbols.end() || found->second.entry->st_value == 0) return nullptr;
  return reinterpret_cast<void *>(table().base + found->second.original.st_value);
}

bool hide_function(const std::string &name, bool hidden) {
  const auto found = table().symbols.find(name);
  if (found == table().symbols.end()) return false;
  Elf64_Sym value = found->second.original;
  if (hidden) {
    // An undefined symbol makes the dynamic linker search in other libraries.
    value.st_value = 0;
    value.st_shndx = SHN_UNDEF;
  }
  if (found->second.entry->st_value != value.st_value) write_symbol(found->second.entry, value);
  return true;
}

void hide_as_configured(const Config &config, int version) {
  for (const std::string &name : all_functions()) {
    bool hidden =
        std::find(config.missing.begin(), config.missing.end(), name) != config.missing.end();
    for (const Introduced &one : introduced_functions()) {
      hidden = hidden || (name == one.name && one.version > version);
    }
    hide_function(name, hidden);
  }
}

}  // namespace sim
